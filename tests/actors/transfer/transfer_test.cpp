#include "actors/transfer/transfer.hpp"

#include "actors/asker.hpp"
#include "tests/actors/transfer/doubles.hpp"
#include "tests/lab/lab.hpp"
#include "tests/lab/seeds.hpp"
#include "tests/transport/recorder.hpp"

namespace perigee::transfer {
namespace {

using namespace std::chrono_literals;
using lab = test::lab<caf::id_block::perigee>;
using schema::MoveFault;
using transport::gate_id;
using transport::segment_id;
using transport::test::memory;
using transport::test::small;

constexpr std::uint64_t block_bytes = 192; // of a small block
static_assert(block_bytes == small.layers * small.layer_bytes);

struct wish {
  std::vector<std::uint32_t> sources{0, 1};
  std::vector<std::uint32_t> targets{5, 6};
  std::uint64_t from = 1;
  std::uint64_t to = 2;
  std::uint64_t await_gate = 0;
  std::uint64_t open_gate = 0;
  std::uint32_t layer_first = 0;
  std::uint32_t layers = 0;
  std::chrono::nanoseconds remaining{};
};

/// A transfer actor with two segments; the test asks, in the name of a prefill group.
struct node {
  explicit node(std::uint64_t seed, options how = {})
    : bench(seed), how_(how), subject(bench.adopt(start_one(1))) {
    REQUIRE(shared.segments->add(from.as_segment()));
    REQUIRE(shared.segments->add(to.as_segment()));
    bench.roster().seat(transfer_name{}, {subject, {1, 1}, rt::actor_tag{77}});
    auto group = bench.spawn<asking_group>(&heard);
    bench.roster().seat(prefill_name{}, {group, {1, 1}, bench.tag()});
    auto shard = bench.spawn<waiting_shard>(&quiesced);
    bench.roster().seat(shard_name{}, {shard, {1, 1}, bench.tag()});
  }

  transfer_actor start_one(std::uint32_t incarnation) {
    return start(bench.world(), {.incarnation = incarnation}, shared, inline_path, how_,
                 counts);
  }

  template <class T>
  void ask(std::uint64_t ticket, const wish& what) {
    bench.tell<T>(subject, [&](typename T::Builder asked) {
      set_asker(asked.initAsker(), prefill_name{});
      asked.setTicket(ticket);
      auto all = asked.initWhat();
      all.setFrom(what.from);
      all.setTo(what.to);
      all.setSources({what.sources.data(), what.sources.size()});
      all.setTargets({what.targets.data(), what.targets.size()});
      all.setAwaitGate(what.await_gate);
      all.setOpenGate(what.open_gate);
      all.setLayerFirst(what.layer_first);
      all.setLayers(what.layers);
      all.setRemainingNs(static_cast<std::uint64_t>(what.remaining.count()));
    });
    bench.settle();
  }

  void push(std::uint64_t ticket, const wish& what = {}) {
    ask<schema::Push>(ticket, what);
  }

  void abort(std::uint64_t ticket) {
    bench.tell<schema::Abort>(subject, [&](schema::Abort::Builder asked) {
      set_asker(asked.initAsker(), prefill_name{});
      asked.setTicket(ticket);
    });
    bench.settle();
  }

  template <class Owner = shard_name>
  void quiesce(std::uint64_t ticket, rt::actor_tag writer) {
    bench.tell<schema::Quiesce>(subject, [&](schema::Quiesce::Builder asked) {
      set_asker(asked.initAsker(), Owner{});
      asked.setTicket(ticket);
      asked.setWriter(static_cast<std::uint64_t>(writer));
    });
    bench.settle();
  }

  void tell_of_loss(rt::actor_tag whom) {
    bench.tell<schema::Member>(subject, [&](schema::Member::Builder news) {
      news.setRole(schema::Role::PREFILL);
      news.initWho();
      news.setTag(static_cast<std::uint64_t>(whom));
      news.setUp(false);
    });
    bench.settle();
  }

  bool answered(std::uint64_t ticket) const {
    return heard.contains(ticket);
  }

  MoveFault fault_of(std::uint64_t ticket) const {
    REQUIRE(answered(ticket));
    return heard.at(ticket)->getFault();
  }

  bool arrived(std::uint32_t source, std::uint32_t target) const {
    for (std::uint32_t layer = 0; layer < small.layers; ++layer)
      if (from.layer(source, layer) != to.layer(target, layer))
        return false;
    return true;
  }

  std::uint64_t count(const std::string& wanted) const {
    std::map<std::string, std::uint64_t> seen;
    counts->each([&](auto name, auto, auto value) { seen[name] = value; });
    return seen.at(wanted);
  }

  memory from{segment_id{1}, 1}, to{segment_id{2}, 99};
  shared_memory shared{std::make_shared<transport::segment_table>(),
                       transport::gate_board::make()};
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  asking_group::answers heard;
  std::vector<std::uint64_t> quiesced;
  lab bench;
  options how_;
  transfer_actor subject;
};

// -- moving -------------------------------------------------------------------

TEST_CASE("a transfer actor says how it was started") {
  CHECK(to_string(options{.movements_max = 9, .limit = 7ms})
        == "movements_max=9 limit_ms=7 modelled_bytes_per_s=0 modelled_latency_ns=0");
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

// -- ending early -------------------------------------------------------------

TEST_CASE("a movement takes as long as its asker waits, and no longer than allowed") {
  FOR_EVERY_SEED(seed);
  node here{seed, {.limit = 20ms}};
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

// -- a modelled link ----------------------------------------------------------

constexpr options one_byte_per_ns{.modelled_bytes_per_s = 1e9,
                                  .modelled_latency = 100ns};

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
  here.bench.settle();
  CHECK(here.heard.at(1)->getDurationNs() == 1'000'000);
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
