#include "transport/move_run.hpp"

#include <catch2/catch.hpp>

#include <numeric>

namespace perigee::transport {
namespace {

constexpr geometry shape{.layer_bytes = 10, .layers = 3};
constexpr std::uint64_t no_end = ~std::uint64_t{0};

std::vector<slice> walked(const move& what, std::uint64_t bytes_max = no_end) {
  std::vector<slice> all;
  slice_walk walk{what, shape};
  while (auto part = walk.next(bytes_max))
    all.push_back(*part);
  CHECK(walk.at_end());
  return all;
}

move whole(std::vector<block_pair> pairs) {
  move what;
  what.layers = {0, shape.layers};
  what.pairs = std::move(pairs);
  return what;
}

TEST_CASE("neighbours that stay neighbours are one slice") {
  CHECK(walked(whole({{0, 4}, {1, 5}, {2, 6}})) == std::vector<slice>{{0, 120, 90}});
}

TEST_CASE("neighbours on one side only are not") {
  CHECK(walked(whole({{0, 4}, {1, 6}, {3, 7}}))
        == std::vector<slice>{{0, 120, 30}, {30, 180, 30}, {90, 210, 30}});
}

TEST_CASE("some layers of neighbours lie apart") {
  auto what = whole({{0, 4}, {1, 5}});
  what.layers = {1, 2};
  CHECK(walked(what) == std::vector<slice>{{10, 130, 20}, {40, 160, 20}});
}

TEST_CASE("where a gate is involved, a layer of all blocks goes before the next") {
  auto what = whole({{0, 4}, {2, 5}});
  what.layers = {1, 2};
  what.opens = std::make_shared<gate>();
  CHECK(
    walked(what)
    == std::vector<slice>{{10, 130, 10}, {70, 160, 10}, {20, 140, 10}, {80, 170, 10}});
}

TEST_CASE("no slice is longer than asked for, and together they are all") {
  auto what = whole({{0, 4}, {1, 5}, {7, 1}});
  for (bool by_layer : {false, true}) {
    what.opens = by_layer ? std::make_shared<gate>() : nullptr;
    for (std::uint64_t most = 1; most <= 100; ++most) {
      std::vector<int> seen(240);
      for (const auto& part : walked(what, most)) {
        CHECK(part.bytes <= most);
        CHECK(part.bytes > 0);
        for (std::uint64_t at = 0; at < part.bytes; ++at) {
          auto block = (part.from + at) / 30;
          auto to = block == 7 ? 1 : block + 4;
          CHECK(part.to + at == to * 30 + (part.from + at) % 30);
          ++seen[part.from + at];
        }
      }
      CHECK(std::accumulate(seen.begin(), seen.end(), 0) == 90);
      CHECK(*std::max_element(seen.begin(), seen.end()) == 1);
    }
  }
}

TEST_CASE("there is nothing to walk over in no blocks, or no layers") {
  CHECK(walked(whole({})).empty());
  auto what = whole({{0, 0}});
  what.layers = {3, 0};
  CHECK(walked(what).empty());
}

} // namespace
} // namespace perigee::transport
