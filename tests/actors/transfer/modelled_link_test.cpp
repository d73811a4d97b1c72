#include "tests/actors/transfer/node.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::transfer {
namespace {

using namespace std::chrono_literals;

const options one_byte_per_ns{
  .links = {.load_bytes_per_s = 1e9, .store_bytes_per_s = 1e9, .latency = 100ns}};

TEST_CASE("a modelled movement takes its bytes over the bandwidth, and the latency") {
  FOR_EVERY_SEED(seed);
  node here{seed, one_byte_per_ns};
  here.push(1);
  here.bench.advance(2 * block_bytes * 1ns + 99ns);
  CHECK_FALSE(here.answered(1));
  CHECK_FALSE(here.arrived(0, 5)); // nobody sees them sooner
  here.bench.advance(1ns);
  CHECK(here.fault_of(1) == MoveFault::NONE);
  CHECK(here.arrived(0, 5));
  CHECK(here.heard.at(1)->getDurationNs() == 2 * block_bytes + 100);
}

TEST_CASE("modelled movements share their node's link") {
  FOR_EVERY_SEED(seed);
  node here{seed, one_byte_per_ns};
  here.push(1);
  here.push(2, {.sources = {0}, .targets = {0}});
  here.bench.advance(1h);
  CHECK(here.heard.at(2)->getDurationNs() == 2 * block_bytes + 100);
  CHECK(here.heard.at(1)->getDurationNs() == 3 * block_bytes + 100);
}

TEST_CASE("a modelled movement that is ended leaves the link to the others") {
  FOR_EVERY_SEED(seed);
  node here{seed, one_byte_per_ns};
  auto there = here.shared.gates->open(gate_id{6});
  here.push(1, {.open_gate = 6});
  here.push(2);
  here.bench.advance(2 * block_bytes * 1ns); // half of each
  here.abort(1);
  CHECK(here.fault_of(1) == MoveFault::ABORTED);
  CHECK(there->read().failed);
  here.bench.advance(1h);
  CHECK_FALSE(here.arrived(5, 5));
  CHECK(here.heard.at(2)->getDurationNs() == 3 * block_bytes + 100);
}

TEST_CASE("a modelled movement that waits for layers ends when both are done") {
  FOR_EVERY_SEED(seed);
  node here{seed, one_byte_per_ns};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.bench.advance(1ms);
  CHECK_FALSE(here.answered(1));
  computed->open_to(3);
  here.bench.advance(1ms);
  CHECK(here.heard.at(1)->getDurationNs()
        == 1'000'000 + 2 * block_bytes / small.layers); // the last one, by itself
}

TEST_CASE("whoever waits for layers of a modelled movement is told when each came") {
  FOR_EVERY_SEED(seed);
  node here{seed, one_byte_per_ns};
  auto began = here.bench.now();
  auto there = here.shared.gates->open(gate_id{6});
  here.push(1, {.open_gate = 6});
  here.bench.advance(2 * block_bytes * 1ns);
  CHECK(there->read().level == 0); // in retrospect, once all of it is there
  here.bench.advance(1h);
  CHECK(there->read().level == small.layers);
  for (std::uint32_t layer = 0; layer < small.layers; ++layer)
    CHECK(there->opened_at(layer)
          == began + 2 * (layer + 1) * small.layer_bytes * 1ns + 100ns);
  CHECK_FALSE(there->opened_at(small.layers));
}

TEST_CASE("a segment that goes while bytes are under way is gone") {
  FOR_EVERY_SEED(seed);
  node here{seed, one_byte_per_ns};
  here.push(1);
  here.bench.advance(1ns);
  CHECK(here.shared.segments->remove(segment_id{2}));
  here.bench.advance(1h);
  CHECK(here.fault_of(1) == MoveFault::GONE);
}

} // namespace
} // namespace perigee::transfer
