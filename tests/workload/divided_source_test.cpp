#include "workload/divided_source.hpp"

#include "workload/mooncake_reader.hpp"

#include <catch2/catch.hpp>

#include <sstream>

namespace perigee::workload {
namespace {

TEST_CASE("lengths are divided and rounded up, and a prompt keeps as many blocks") {
  std::istringstream trace{
    R"({"timestamp": 0, "input_length": 1025, "output_length": 33, "hash_ids": [1, 2, 3]}
{"timestamp": 5, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]}
)"};
  mooncake_reader reader{trace, "t.jsonl"};
  constexpr std::uint32_t by = 32;
  divided_source divided{reader, by};
  auto first = divided.next().value().value();
  CHECK(first.input_tokens == 33);
  CHECK(first.output_tokens == 2);
  CHECK(first.block_ids == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(blocks_of(std::uint64_t{first.input_tokens} * by) == first.block_ids.size());
  auto second = divided.next().value().value();
  CHECK(second.input_tokens == 32);
  CHECK(second.output_tokens == 1);
  CHECK(second.arrival == std::chrono::milliseconds{5});
  CHECK_FALSE(divided.next().value());
}

TEST_CASE("what is wrong with a trace is passed on") {
  std::istringstream nothing;
  mooncake_reader reader{nothing, "t.jsonl"};
  divided_source divided{reader, 2};
  auto got = divided.next();
  REQUIRE_FALSE(got);
  CHECK(got.error().why == cause::empty);
}

TEST_CASE("blocks are divided into whole tokens") {
  CHECK(divides_blocks(1));
  CHECK(divides_blocks(512));
  CHECK_FALSE(divides_blocks(0));
  CHECK_FALSE(divides_blocks(3));
  CHECK_FALSE(divides_blocks(1024));
}

} // namespace
} // namespace perigee::workload
