#include "actors/cache_shard/news.hpp"

#include <catch2/catch.hpp>

namespace perigee::shard {
namespace {

constexpr block_key a{1, 1}, b{1, 2};

TEST_CASE("news are what has changed since the last") {
  news all;
  CHECK(all.empty());
  all.stored(b);
  all.stored(a);
  all.stored(a);
  auto first = all.take();
  CHECK(first.stored == block_chain{a, b});
  CHECK(first.evicted.empty());
  CHECK(all.empty());
  all.evicted(a);
  CHECK(all.take().evicted == block_chain{a});
}

TEST_CASE("what undoes itself is no news") {
  news all;
  all.stored(a);
  all.evicted(a);
  CHECK(all.empty());
  all.evicted(b);
  all.stored(b);
  all.evicted(b);
  CHECK(all.take().evicted == block_chain{b});
}

} // namespace
} // namespace perigee::shard
