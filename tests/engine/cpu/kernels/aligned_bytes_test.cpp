#include "engine/cpu/kernels/aligned_bytes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace perigee::engine::cpu {
namespace {

bool is_clean(const aligned_bytes& it) {
  return reinterpret_cast<std::uintptr_t>(it.data()) % 64 == 0
         && std::ranges::all_of(std::span(it.data(), it.size()),
                                [](std::byte one) { return one == std::byte{0}; });
}

TEST_CASE("aligned bytes are zero and begin at a cache line, few or many") {
  for (std::size_t size : {0, 1, 64, 1000, (2 << 20) - 1, 2 << 20, (4 << 20) + 1}) {
    aligned_bytes it(size);
    CHECK(it.size() == size);
    CHECK(is_clean(it));
  }
}

TEST_CASE("pieces of a slab don't overlap, and outlive it") {
  std::vector<aligned_bytes> pieces;
  {
    aligned_slabs slabs;
    for (std::size_t size : {1, 100, 64, 5 << 20, 7 << 20, 9 << 20, 7 << 20, 7 << 20}) {
      pieces.push_back(slabs.take(size));
      CHECK(pieces.back().size() >= size);
      REQUIRE(is_clean(pieces.back()));
      auto filling = static_cast<std::byte>(pieces.size());
      std::fill_n(pieces.back().data(), pieces.back().size(), filling);
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    CHECK(std::ranges::all_of(
      std::span(pieces[i].data(), pieces[i].size()),
      [&](std::byte one) { return one == static_cast<std::byte>(i + 1); }));
}

} // namespace
} // namespace perigee::engine::cpu
