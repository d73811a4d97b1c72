#include "actors/cache_shard/dram_arena.hpp"

#include <catch2/catch.hpp>

#include <cstring>

namespace perigee::shard {
namespace {

constexpr transport::geometry shape{.layer_bytes = 100, .layers = 3};
constexpr transport::segment_id id{7};

TEST_CASE(
  "an arena is registered as long as it lives, and its memory as long as used") {
  auto table = std::make_shared<transport::segment_table>();
  std::optional<transport::segment> found;
  {
    auto arena = dram_arena::make(table, {.id = id, .shape = shape, .blocks = 5});
    REQUIRE(arena);
    CHECK((*arena)->blocks() == 5);
    found = table->find(id);
    REQUIRE(found);
    CHECK(found->shape == shape);
  }
  CHECK_FALSE(table->find(id));
  std::memset(found->base, 1, 5 * shape.block_bytes()); // somebody still writes
}

TEST_CASE("a modelled arena has blocks without bytes") {
  auto table = std::make_shared<transport::segment_table>();
  auto arena = dram_arena::make(
    table, {.id = id, .shape = shape, .blocks = 4'000'000'000, .is_backed = false});
  REQUIRE(arena);
  CHECK(table->find(id)->base == nullptr);
}

TEST_CASE("an arena that cannot be is refused with the reason") {
  auto table = std::make_shared<transport::segment_table>();
  auto fault_of = [&](arena_plan plan) {
    auto made = dram_arena::make(table, plan);
    REQUIRE_FALSE(made);
    return made.error();
  };
  CHECK(fault_of({.id = id, .shape = shape, .blocks = 0})
        == arena_fault::not_registered);
  CHECK(fault_of({.id = id, .shape = {}, .blocks = 1}) == arena_fault::not_registered);
  auto first = dram_arena::make(table, {.id = id, .shape = shape, .blocks = 1});
  CHECK(fault_of({.id = id, .shape = shape, .blocks = 1})
        == arena_fault::not_registered);
  CHECK(table->find(id)); // the first stays
}

TEST_CASE("so many bytes hold so many whole blocks") {
  CHECK(blocks_in(899, shape) == 2);
  CHECK(blocks_in(900, shape) == 3);
  CHECK(blocks_in(299, shape) == 0);
  CHECK(blocks_in(900, {}) == 0);
  CHECK(blocks_in(900, {.layer_bytes = ~std::uint64_t{0}, .layers = 2}) == 0);
  CHECK(blocks_in(~std::uint64_t{0}, {.layer_bytes = 1, .layers = 1}) == 0xffffffff);
}

} // namespace
} // namespace perigee::shard
