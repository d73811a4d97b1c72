#include "tests/actors/cluster/doubles.hpp"
#include "tests/lab/node_messages.hpp"
#include "tests/lab/seeds.hpp"

#include <catch2/catch.hpp>

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;
using bench_type = test::lab<caf::id_block::perigee>;

/// A gateway, a rejector, and a group with its engine.
struct small_cluster {
  explicit small_cluster(std::uint64_t seed, options how = {}) : bench(seed) {
    units all(3);
    auto in = bench.world();
    add_seat<gateway_double, schema::Role::GATEWAY>(all[0], in, 0, notes);
    add_seat<rejector_double, schema::Role::REJECTOR>(all[1], in, 0, notes);
    add_seat<engine_double, schema::Role::ENGINE>(all[2], in, 0, notes);
    add_seat<prefill_double, schema::Role::PREFILL>(all[2], in, 0, notes);
    all[2].prepare = [this]() -> std::optional<std::string> {
      ++engines_made;
      if (engine_fails)
        return "no memory";
      return std::nullopt;
    };
    actor = bench.adopt(start(in, {}, bench.roster(), std::move(all), how, counts));
    bench.settle();
  }

  ~small_cluster() {
    actor = nullptr;
  }

  template <class Handle>
  void kill(rt::name<Handle> who) {
    auto found = bench.roster().find(who);
    REQUIRE(found);
    rt::kill(found->actor);
  }

  template <class Handle>
  std::uint32_t incarnation(rt::name<Handle> who) {
    auto found = bench.roster().find(who);
    return found ? found->which.incarnation : 0;
  }

  Msg<schema::Description> description() {
    auto answer = bench.ask<schema::Describe, schema::Description>(actor, [](auto) {});
    bench.settle();
    REQUIRE(answer->answer);
    return *answer->answer;
  }

  bench_type bench;
  std::shared_ptr<notebook> notes = std::make_shared<notebook>();
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  int engines_made = 0;
  bool engine_fails = false;
  cluster_actor actor;
};

const gateway_name gateway{};
const rejector_name rejector{};
const prefill_name group{};
const engine_name engine{};

TEST_CASE("on every node of a process, its cluster is believed") {
  bench_type bench{1};
  auto notes = std::make_shared<notebook>();
  units all(2);
  auto here = bench.world();
  auto there = here;
  there.index = node_index{1};
  add_seat<rejector_double, schema::Role::REJECTOR>(all[0], here, 0, notes);
  add_seat<prefill_double, schema::Role::PREFILL>(all[1], there, 0, notes);
  auto actor = bench.adopt(start(here, {}, bench.roster(), std::move(all)));
  bench.settle();
  CHECK(notes->count("prefill.0#1 heard up rejector.0#1") == 1);
  CHECK(notes->count("doubts") == 0);
}

TEST_CASE("everybody hears of everybody, once") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed};
  for (const auto* who : {"gateway", "rejector", "prefill"})
    for (const auto* other : {"gateway", "rejector", "prefill", "engine"}) {
      auto line = std::string{who} + ".0#1 heard up " + other + ".0#1";
      INFO(line);
      CHECK(all.notes->count(line) == 1);
    }
  CHECK(all.notes->lines.size() == 12);
  auto described = all.description();
  CHECK(described->getReady());
  CHECK(described->getUp() == 4);
  CHECK(described->getDown() == 0);
}

TEST_CASE("what has died is started again, and down is heard before up") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed};
  all.kill(rejector);
  all.bench.settle();
  CHECK(all.incarnation(rejector) == 0);
  CHECK_FALSE(all.description()->getReady());
  all.bench.advance(1ms);
  CHECK(all.incarnation(rejector) == 2);
  for (const auto* who : {"gateway", "prefill"}) {
    auto heard = std::string{who} + ".0#1 heard ";
    CHECK(all.notes->count(heard + "down rejector.0#1") == 1);
    CHECK(all.notes->first(heard + "down rejector.0#1")
          < all.notes->first(heard + "up rejector.0#2"));
    CHECK(all.notes->first(heard + "up rejector.0#2") < all.notes->lines.size());
  }
  CHECK(all.notes->count("rejector.0#2 heard up") == 4);
  auto described = all.description();
  CHECK(described->getReady());
  CHECK(described->getRespawned() == 1);
}

TEST_CASE("an engine's host and its owner end together, and begin with a new engine") {
  FOR_EVERY_SEED(seed);
  bool host_first = GENERATE(true, false);
  small_cluster all{seed};
  if (host_first)
    all.kill(engine);
  else
    all.kill(group);
  all.bench.settle();
  CHECK(all.incarnation(engine) == 0);
  CHECK(all.incarnation(group) == 0);
  CHECK(all.engines_made == 1);
  all.bench.advance(1ms);
  CHECK(all.incarnation(engine) == 2);
  CHECK(all.incarnation(group) == 2);
  CHECK(all.engines_made == 2);
  CHECK(all.notes->count("gateway.0#1 heard down prefill.0#1") == 1);
  CHECK(all.notes->count("gateway.0#1 heard down engine.0#1") == 1);
  CHECK(all.incarnation(gateway) == 1); // nobody else was touched
}

disruption outage(std::chrono::nanoseconds begins, std::chrono::nanoseconds ends) {
  disruption one;
  one.begins = begins;
  one.ends = ends;
  return one;
}

TEST_CASE("a node that is away is away until it is over, however long") {
  FOR_EVERY_SEED(seed);
  options how;
  how.disruptions = {outage(10s, 10min)};
  small_cluster all{seed, how};
  CHECK(all.description()->getUp() == 4);
  all.bench.advance(9s);
  CHECK(all.incarnation(gateway) == 1);
  all.bench.advance(1s);
  CHECK(all.description()->getUp() == 0);
  all.bench.advance(9min);
  CHECK(all.description()->getUp() == 0);
  CHECK(all.engines_made == 1);
  all.bench.advance(1min);
  CHECK(all.description()->getUp() == 4);
  CHECK(all.incarnation(gateway) == 2);
  CHECK(all.engines_made == 2);
  CHECK(all.notes->count("gateway.0#2 heard up") == 4);
}

TEST_CASE("one actor that is killed takes its mate along, and is started again") {
  FOR_EVERY_SEED(seed);
  options how;
  auto one = outage(10s, 10s);
  bool for_a_while = GENERATE(true, false);
  if (for_a_while)
    one.ends = 20s;
  one.who = {schema::Role::PREFILL, 0};
  how.disruptions = {one};
  small_cluster all{seed, how};
  all.bench.advance(10s + 1ms);
  CHECK(all.incarnation(group) == (for_a_while ? 0 : 2));
  CHECK(all.incarnation(engine) == (for_a_while ? 0 : 2));
  CHECK(all.incarnation(gateway) == 1);
  all.bench.advance(10s);
  CHECK(all.incarnation(group) == 2);
}

TEST_CASE("what waits to be tried again stays away with its node") {
  options how;
  how.disruptions = {outage(10s, 20s)};
  small_cluster all{1, how};
  all.bench.advance(10s - 50ms);
  all.engine_fails = true;
  all.kill(engine);
  all.bench.advance(10s);
  CHECK(all.engines_made == 2); // once more before it went away
  all.engine_fails = false;
  all.bench.advance(50ms);
  CHECK(all.description()->getUp() == 4);
}

TEST_CASE("a unit that cannot be made is tried again, later each time") {
  small_cluster all{1};
  all.engine_fails = true;
  all.kill(engine);
  all.bench.advance(1ms);
  CHECK(all.engines_made == 2);
  CHECK(all.incarnation(group) == 0);
  all.bench.advance(98ms); // the second wait is 100 ms
  CHECK(all.engines_made == 2);
  all.engine_fails = false;
  all.bench.advance(2ms);
  CHECK(all.engines_made == 3);
  CHECK(all.incarnation(group) == 2);
  CHECK(all.description()->getReady());
}

TEST_CASE("after Drain, once no request is open, everybody ends") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed};
  all.bench.tell<schema::Drain>(all.actor, [](auto) {});
  all.bench.settle();
  CHECK(all.notes->count("gateway.0#1 drains") == 1);
  CHECK(all.incarnation(gateway) == 0);
  CHECK(all.incarnation(group) == 0);
  auto answer
    = all.bench.ask<schema::Describe, schema::Description>(all.actor, [](auto) {});
  all.bench.settle();
  CHECK(answer->error); // it has ended, too
}

TEST_CASE("what dies while the cluster drains does not hold it up") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed};
  all.kill(rejector);
  all.kill(gateway);
  all.bench.tell<schema::Drain>(all.actor, [](auto) {});
  all.bench.advance(11s);
  CHECK(all.incarnation(group) == 0);
}

TEST_CASE("whoever kills a cluster kills its actors") {
  small_cluster all{1};
  rt::kill(all.actor);
  all.bench.settle();
  CHECK(all.notes->count("heard down") == 0); // they had no time to hear of it
}

} // namespace
} // namespace perigee::cluster
