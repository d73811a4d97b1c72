#include "transport/segment_table.hpp"

#include <catch2/catch.hpp>

namespace perigee::transport {
namespace {

constexpr geometry shape{.layer_bytes = 64, .layers = 2};

segment numbered(std::uint64_t id) {
  return {segment_id{id}, nullptr, shape, 4, nullptr};
}

TEST_CASE("a segment is found by its number until it is removed") {
  segment_table all;
  REQUIRE(all.add(numbered(7)));
  REQUIRE(all.find(segment_id{7}));
  CHECK(all.find(segment_id{7})->blocks == 4);
  CHECK_FALSE(all.find(segment_id{8}));
  CHECK(all.remove(segment_id{7}));
  CHECK_FALSE(all.remove(segment_id{7}));
  CHECK_FALSE(all.find(segment_id{7}));
}

TEST_CASE("a number names one segment") {
  segment_table all;
  REQUIRE(all.add(numbered(7)));
  CHECK(all.add(numbered(7)).error() == segment_fault::taken);
}

TEST_CASE("a segment without bytes, or with more than there can be, is refused") {
  segment_table all;
  auto wrong = numbered(1);
  wrong.blocks = 0;
  CHECK(all.add(wrong).error() == segment_fault::shapeless);
  wrong = numbered(1);
  wrong.shape.layers = 0;
  CHECK(all.add(wrong).error() == segment_fault::shapeless);
  wrong = numbered(1);
  wrong.shape.layer_bytes = std::uint64_t{1} << 62; // eight times that is 0 in 64 bits
  CHECK(all.add(wrong).error() == segment_fault::shapeless);
  CHECK(all.size() == 0);
}

TEST_CASE("a table takes as many segments as it was made for") {
  segment_table all{2};
  REQUIRE(all.add(numbered(1)));
  REQUIRE(all.add(numbered(2)));
  CHECK(all.add(numbered(3)).error() == segment_fault::full);
  REQUIRE(all.remove(segment_id{1}));
  CHECK(all.add(numbered(3)));
}

TEST_CASE("memory lives as long as somebody has found it") {
  auto memory = std::make_shared<int>(1);
  std::weak_ptr<int> life = memory;
  segment_table all;
  auto one = numbered(1);
  one.keep_alive = std::exchange(memory, nullptr);
  auto added = all.add(std::move(one));
  REQUIRE(added);
  auto found = all.find(segment_id{1});
  REQUIRE(all.remove(segment_id{1}));
  CHECK_FALSE(life.expired());
  found.reset();
  CHECK(life.expired());
}

TEST_CASE(
  "who watches hears of each segment that is removed, until it no longer does") {
  segment_table all;
  std::vector<segment_id> heard;
  auto watch = all.watch_removals([&](segment_id id) {
    CHECK_FALSE(all.find(id)); // and may use the table
    heard.push_back(id);
  });
  for (std::uint64_t id = 1; id <= 3; ++id)
    REQUIRE(
      all.add({segment_id{id}, nullptr, {.layer_bytes = 64, .layers = 1}, 1, {}}));
  CHECK(all.remove(segment_id{2}));
  CHECK_FALSE(all.remove(segment_id{2}));
  CHECK(heard == std::vector{segment_id{2}});
  all.unwatch(watch);
  CHECK(all.remove(segment_id{1}));
  CHECK(heard == std::vector{segment_id{2}});
}

} // namespace
} // namespace perigee::transport
