#include "tests/actors/transfer/node.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::transfer {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a transfer actor says how it was started") {
  CHECK(to_string(options{.movements_max = 9, .limit = 7ms, .gated_limit = 8ms})
        == "movements_max=9 limit_ms=7 gated_limit_ms=8 load_bytes_per_s=0 "
           "store_bytes_per_s=0 latency_ns=0 has_fabric=0 port_bytes_per_s=0");
}

TEST_CASE("a movement is carried out and answered, whichever way it goes") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.push(11);
  here.ask<schema::Fetch>(12, {.sources = {2}, .targets = {2}});
  CHECK(here.fault_of(11) == MoveFault::NONE);
  CHECK(here.heard.at(11)->getBytes() == 2 * block_bytes);
  CHECK(here.fault_of(12) == MoveFault::NONE);
  CHECK(here.heard.at(12)->getBytes() == block_bytes);
  CHECK(here.arrived(0, 5));
  CHECK(here.arrived(1, 6));
  CHECK(here.arrived(2, 2));
  CHECK(here.count("movements_total") == 2);
  CHECK(here.count("bytes_moved_total") == 3 * block_bytes);
  CHECK(here.count("movements_open") == 0);
}

TEST_CASE("a movement of some layers moves no others") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.push(1, {.layer_first = 1, .layers = 1});
  CHECK(here.heard.at(1)->getBytes() == 2 * small.layer_bytes);
  here.push(2, {.layer_first = 1}); // all from there on
  CHECK(here.heard.at(2)->getBytes() == 4 * small.layer_bytes);
}

TEST_CASE("what cannot be moved is answered with the reason, at once") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.push(1, {.from = 9});
  CHECK(here.fault_of(1) == MoveFault::GONE);
  here.push(2, {.to = 9});
  CHECK(here.fault_of(2) == MoveFault::GONE);
  here.push(3, {.sources = {0}, .targets = {0, 1}});
  CHECK(here.fault_of(3) == MoveFault::OUT_OF_RANGE);
  here.push(4, {.targets = {0, 4'000'000'000}});
  CHECK(here.fault_of(4) == MoveFault::OUT_OF_RANGE);
  here.push(5, {.layer_first = 4096});
  CHECK(here.fault_of(5) == MoveFault::OUT_OF_RANGE);
  here.push(6, {.layer_first = 1, .layers = 3});
  CHECK(here.fault_of(6) == MoveFault::OUT_OF_RANGE);
  here.push(7, {.await_gate = 5});
  CHECK(here.fault_of(7) == MoveFault::STARVED);
  CHECK(here.count("out_of_range_total") == 4);
  CHECK(here.count("movements_open") == 0);
}

TEST_CASE("a movement without blocks is answered") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.push(1, {.sources = {}, .targets = {}});
  CHECK(here.fault_of(1) == MoveFault::NONE);
}

TEST_CASE("a movement follows the layers it waits for") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  auto there = here.shared.gates->open(gate_id{6});
  here.push(1, {.await_gate = 5, .open_gate = 6});
  computed->open_to(2);
  CHECK(there->read().level == 2);
  here.bench.advance(10ms);
  CHECK_FALSE(here.answered(1));
  computed->open_to(3);
  here.bench.settle();
  CHECK(here.fault_of(1) == MoveFault::NONE);
  CHECK(here.heard.at(1)->getDurationNs() == 10'000'000);
  CHECK(there->read().level == 3);
}

TEST_CASE("a movement whose layers will not come is starved") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  {
    auto computed = here.shared.gates->open(gate_id{5});
    here.push(1, {.await_gate = 5});
  }
  here.bench.settle();
  CHECK(here.fault_of(1) == MoveFault::STARVED);
}

TEST_CASE("a movement moves even if nobody waits at its gate any more") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.push(1, {.open_gate = 6});
  CHECK(here.fault_of(1) == MoveFault::NONE);
}

} // namespace
} // namespace perigee::transfer
