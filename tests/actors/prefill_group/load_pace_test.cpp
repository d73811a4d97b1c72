#include "actors/prefill_group/load_pace.hpp"

#include <catch2/catch.hpp>

using namespace perigee;
using namespace perigee::prefill;
using namespace std::chrono_literals;

namespace {

constexpr node_index here{0}, there{1};
constexpr auto dram = schema::Tier::DRAM, ssd = schema::Tier::SSD;

} // namespace

TEST_CASE("who has seen nothing yet begins at once") {
  load_pace pace;
  CHECK(pace.head_start(here, dram, 1000, 100) == 0ns);
  pace.loaded(here, dram, 1000, 10ms);
  CHECK(pace.head_start(here, dram, 1000, 100) == 0ns);
}

TEST_CASE("computing begins when what is left to load takes as long") {
  load_pace pace;
  pace.loaded(there, dram, 1024, 1024us);
  pace.computed(1024, 512us);
  CHECK(pace.head_start(there, dram, 2048, 1024) == 2048us - 512us);
  CHECK(pace.head_start(there, dram, 512, 1024) == 0ns);
  CHECK(pace.head_start(there, dram, 511, 1024) == 0ns);
}

TEST_CASE("each node and tier loads at a pace of its own") {
  load_pace pace;
  pace.loaded(there, dram, 1024, 4096us);
  pace.loaded(here, ssd, 1024, 8192us);
  pace.computed(1024, 1024us);
  CHECK(pace.head_start(there, dram, 1024, 1024) == 3072us);
  CHECK(pace.head_start(here, ssd, 1024, 1024) == 7168us);
  CHECK(pace.head_start(here, dram, 1024, 1024) == 0ns);
}

TEST_CASE("a pace follows what was seen last, by a quarter") {
  load_pace pace;
  pace.computed(1024, 1ns);
  pace.loaded(here, dram, 1024, 1024us);
  pace.loaded(here, dram, 1024, 2048us);
  CHECK(pace.head_start(here, dram, 1024, 0) == 1280us);
  pace.loaded(here, dram, 0, 1h); // says nothing
  CHECK(pace.head_start(here, dram, 1024, 0) == 1280us);
}

TEST_CASE("no time and no length is too much") {
  load_pace pace;
  constexpr auto most = ~std::uint32_t{0};
  pace.loaded(here, dram, 1, std::chrono::nanoseconds::max());
  pace.computed(most, 1ns);
  CHECK(pace.head_start(here, dram, 1, most) > 0ns);
  CHECK(pace.head_start(here, dram, most, most) >= 0ns);
}
