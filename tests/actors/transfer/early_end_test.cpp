#include "tests/actors/transfer/node.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::transfer {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a movement takes as long as its asker waits, and no longer than allowed") {
  FOR_EVERY_SEED(seed);
  node here{seed, {.limit = 1ms, .gated_limit = 20ms}};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5, .remaining = 5ms});
  here.push(2, {.await_gate = 5, .remaining = 1h});
  here.push(3, {.await_gate = 5});
  here.bench.advance(5ms - 1ns);
  CHECK_FALSE(here.answered(1));
  here.bench.advance(1ns);
  CHECK(here.fault_of(1) == MoveFault::TIMED_OUT);
  here.bench.advance(15ms - 1ns);
  CHECK_FALSE(here.answered(2));
  here.bench.advance(1ns);
  CHECK(here.fault_of(2) == MoveFault::TIMED_OUT);
  CHECK(here.fault_of(3) == MoveFault::TIMED_OUT);
  computed->open_to(3);
  CHECK_FALSE(here.arrived(0, 5)); // it was answered: nothing is touched any more
}

TEST_CASE("what waits for no engine has the shorter limit") {
  FOR_EVERY_SEED(seed);
  node here{seed,
            {.limit = 3ms, .gated_limit = 20ms, .links = {.store_bytes_per_s = 1}}};
  here.push(1, {.remaining = 1h});
  here.bench.advance(3ms - 1ns);
  CHECK_FALSE(here.answered(1));
  here.bench.advance(1ns);
  CHECK(here.fault_of(1) == MoveFault::TIMED_OUT);
}

TEST_CASE("who asks when too many movements are open is told that it is busy") {
  FOR_EVERY_SEED(seed);
  node here{seed, {.movements_max = 2}};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.push(2, {.await_gate = 5});
  here.push(3);
  CHECK(here.fault_of(3) == MoveFault::BUSY);
  computed->open_to(3);
  here.bench.settle();
  here.push(4);
  CHECK(here.fault_of(4) == MoveFault::NONE);
}

TEST_CASE("an abort ends its movement alone") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.push(2, {.targets = {3, 4}, .await_gate = 5});
  here.abort(1);
  CHECK(here.fault_of(1) == MoveFault::ABORTED);
  here.abort(1);
  here.abort(7);
  computed->open_to(3);
  here.bench.settle();
  CHECK(here.fault_of(2) == MoveFault::NONE);
  CHECK_FALSE(here.arrived(0, 5));
  CHECK(here.arrived(0, 3));
}

TEST_CASE("a wish in the name of another is not heard, nor one said twice") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.push(1, {.await_gate = 5}); // its own ticket again
  CHECK(here.count("stale_total") == 1);
  asking_group::answers others;
  auto successor = here.bench.spawn<asking_group>(&others);
  here.bench.roster().seat(prefill_name{}, {successor, {1, 2}, rt::actor_tag{5}});
  here.push(2);
  here.abort(1); // the test has that name no longer
  CHECK(here.count("stale_total") == 3);
  CHECK(here.count("movements_open") == 1);
  CHECK_FALSE(here.arrived(0, 5));
}

TEST_CASE("a transport's outcome is believed from the transport alone") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.bench.tell<schema::Done>(here.subject, [](auto done) { done.setNumber(1); });
  here.bench.settle();
  CHECK_FALSE(here.answered(1));
  CHECK(here.count("stale_total") == 1);
}

TEST_CASE("a lost asker's movements end, and no others") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.tell_of_loss(rt::actor_tag{123});
  CHECK(here.count("movements_open") == 1);
  here.tell_of_loss(here.bench.tag());
  CHECK(here.count("movements_open") == 0);
  CHECK(here.count("aborted_total") == 1);
  computed->open_to(3);
  CHECK_FALSE(here.arrived(0, 5));
}

TEST_CASE("that an asker is lost is believed from the cluster alone") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  auto successor = here.bench.spawn<test::quiet_cluster>();
  here.bench.roster().seat(cluster_name{}, {successor, {1, 2}, rt::actor_tag{123}});
  here.tell_of_loss(here.bench.tag());
  CHECK(here.count("movements_open") == 1);
  CHECK(here.count("stale_total") == 1);
}

TEST_CASE("a writer is quiet once none of its movements touches memory") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.push(2, {.await_gate = 5});
  here.quiesce(31, rt::actor_tag{123}); // has none
  CHECK(here.quiesced == std::vector<std::uint64_t>{31});
  here.quiesce(32, here.bench.tag());
  CHECK(here.quiesced == std::vector<std::uint64_t>{31, 32});
  CHECK(here.count("movements_open") == 0);
  computed->open_to(3);
  CHECK_FALSE(here.arrived(0, 5));
}

TEST_CASE("who cannot have been written to is not told that a writer is quiet") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.quiesce<prefill_name>(31, here.bench.tag());
  CHECK(here.count("stale_total") == 1);
  CHECK(here.count("movements_open") == 1);
}

TEST_CASE("a transfer actor's end is its movements' end") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto computed = here.shared.gates->open(gate_id{5});
  auto there = here.shared.gates->open(gate_id{6});
  here.push(1, {.await_gate = 5, .open_gate = 6});
  rt::kill(here.subject);
  here.bench.settle();
  CHECK(there->read().failed);
  computed->open_to(3);
  CHECK_FALSE(here.arrived(0, 5));
  here.subject = here.bench.adopt(here.start_one(2));
  here.push(2);
  CHECK(here.fault_of(2) == MoveFault::NONE);
  CHECK_FALSE(here.answered(1)); // whose asker hears of the loss
}

} // namespace
} // namespace perigee::transfer
