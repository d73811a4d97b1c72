#include "actors/cache_shard/news.hpp"

#include <catch2/catch.hpp>

namespace perigee::shard {
namespace {

constexpr block_key a{1, 1}, b{1, 2};

TEST_CASE("news are what has changed since the last") {
  news all;
  CHECK(all.empty());
  all.moved(b, place::gone, place::dram);
  all.moved(a, place::gone, place::dram);
  auto first = all.take();
  CHECK(first.dram == block_chain{a, b});
  CHECK(first.ssd.empty());
  CHECK(first.evicted.empty());
  CHECK(all.empty());
  all.moved(a, place::dram, place::gone);
  all.moved(b, place::dram, place::ssd);
  auto second = all.take();
  CHECK(second.evicted == block_chain{a});
  CHECK(second.ssd == block_chain{b});
}

TEST_CASE("what comes to nothing is no news") {
  news all;
  all.moved(a, place::gone, place::dram);
  all.moved(a, place::dram, place::gone);
  all.moved(b, place::ssd, place::dram);
  all.moved(b, place::dram, place::ssd);
  CHECK(all.empty());
}

TEST_CASE("of several moves the last is told") {
  news all;
  all.moved(a, place::dram, place::gone); // falling
  all.moved(a, place::gone, place::ssd);
  CHECK(all.take().ssd == block_chain{a});
  all.moved(b, place::dram, place::gone);
  all.moved(b, place::gone, place::dram);
  all.moved(b, place::dram, place::gone);
  CHECK(all.take().evicted == block_chain{b});
}

} // namespace
} // namespace perigee::shard
