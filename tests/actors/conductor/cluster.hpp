/// \file
/// A conductor among those it speaks to, all of whom the test speaks for.
#pragma once

#include "actors/conductor/conductor.hpp"
#include "tests/actors/conductor/doubles.hpp"
#include "tests/lab/perigee_messages.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace perigee::conductor {

using namespace std::chrono_literals;
using lab = test::lab<caf::id_block::perigee>;
using schema::Role;
using test::asked;
using test::chain_of;
using reason_told = schema::Refusal::Reason;

/// A token takes a millisecond to compute, and a decode step 10 ms.
inline options simple() {
  options how;
  how.cost = {.prefill = {0, 1e6, 0},
              .decode = {10e6, 1e6, 0},
              .link = {0, 1e9},
              .disk = {0, 1e8},
              .kv_token_bytes = 1000};
  how.ttft_limit = 10s;
  how.tbt_limit = 100ms;
  return how;
}

/// Two nodes with all there is, a gateway, and a conductor; the test speaks for all.
struct cluster {
  explicit cluster(std::uint64_t seed, options how = simple())
    : bench(seed), counts(std::make_shared<probe>()), how_(how) {
    seat(gateway_name{}, bench.spawn<test::listening_gateway>(&gateway));
    seat(rejector_name{}, bench.spawn<test::listening_rejector>(&rejector));
    for (std::uint32_t node : {0, 1}) {
      seat(group(node), bench.spawn<test::listening_group>(&groups[node]));
      seat(instance(node), bench.spawn<test::listening_instance>(&instances[node]));
      seat(shard(node), bench.spawn<test::listening_shard>(&shards[node]));
    }
    begin({});
  }

  static prefill_name group(std::uint32_t node) {
    return {node_index{node}, 0};
  }
  static decode_name instance(std::uint32_t node) {
    return {node_index{node}, 0};
  }
  static shard_name shard(std::uint32_t node) {
    return {node_index{node}, 0};
  }

  /// Starts a conductor, and tells it who is there.
  void begin(rt::place where) {
    conductor = bench.adopt(start(bench.world(), where, how_, counts));
    for (std::uint32_t node : {0, 1})
      for (auto role : {Role::PREFILL, Role::DECODE, Role::SHARD})
        introduce(role, node);
    bench.settle();
  }

  void restart() {
    rt::kill(conductor);
    bench.settle();
    begin({.incarnation = 2});
  }

  template <class Handle>
  void seat(const rt::name<Handle>& where, const Handle& who,
            std::uint32_t incarnation = 1) {
    bench.roster().seat(where, {who, {1, incarnation}, bench.tag()});
  }

  /// Nobody is there any more, and nobody said so.
  template <class Handle>
  void vanish(const rt::name<Handle>& where) {
    REQUIRE(bench.roster().vacate(where, {1, 1}));
  }

  void introduce(Role role, std::uint32_t node, bool up = true) {
    bench.tell<schema::Member>(conductor, test::member(role, node, up));
  }

  // -- what happens -----------------------------------------------------------

  void place(const asked& wish) {
    bench.tell<schema::Place>(conductor, [&](schema::Place::Builder place) {
      wish.write(place.initWish());
      place.setAdmissionNs(7);
    });
  }

  /// Places, and returns what came of it.
  schema::Placed::Reader came_of(const asked& wish) {
    place(wish);
    bench.settle();
    return *said().back();
  }

  void cancel(std::uint64_t request) {
    bench.tell<schema::Cancel>(conductor, test::cancelling(request));
  }

  void report_group(std::uint32_t node, std::uint32_t running, std::uint64_t tokens,
                    const std::vector<std::uint64_t>& ended) {
    bench.tell<schema::PrefillLoad>(conductor, [&](schema::PrefillLoad::Builder load) {
      load.initWho().setNode(node);
      load.setRunning(running);
      load.setQueuedTokens(tokens);
      auto list = load.initEnded(static_cast<unsigned>(ended.size()));
      for (unsigned i = 0; i < list.size(); ++i)
        list.set(i, ended[i]);
    });
  }

  void report_instance(std::uint32_t node, std::uint32_t sequences,
                       const std::vector<std::uint64_t>& began,
                       const std::vector<std::uint64_t>& ended) {
    bench.tell<schema::DecodeLoad>(conductor, [&](schema::DecodeLoad::Builder load) {
      load.initWho().setNode(node);
      load.setSequences(sequences);
      load.setBlocksFree(10'000);
      auto list = load.initBegan(static_cast<unsigned>(began.size()));
      for (unsigned i = 0; i < list.size(); ++i)
        list.set(i, began[i]);
      auto ends = load.initEnded(static_cast<unsigned>(ended.size()));
      for (unsigned i = 0; i < ends.size(); ++i) {
        ends[i].setRequest(ended[i]);
        ends[i].setDecodedNs(1'000'000'000);
      }
    });
  }

  void store(std::uint32_t node, std::uint64_t number, const block_chain& keys) {
    bench.tell<schema::Stored>(conductor, [&](schema::Stored::Builder news) {
      news.initShard().setNode(node);
      news.setNumber(number);
      test::keys_into(keys)(news);
    });
  }

  void evict(std::uint32_t node, std::uint64_t number, const block_chain& keys) {
    bench.tell<schema::Evicted>(conductor, [&](schema::Evicted::Builder news) {
      news.initShard().setNode(node);
      news.setNumber(number);
      test::keys_into(keys)(news);
    });
  }

  void recount(std::uint32_t node, std::uint64_t number, const block_chain& keys,
               std::uint32_t part = 0, bool last = true) {
    bench.tell<schema::Snapshot>(conductor, [&](schema::Snapshot::Builder news) {
      news.initShard().setNode(node);
      news.setNumber(number);
      news.setPart(part);
      news.setLast(last);
      test::keys_into(keys)(news);
    });
  }

  // -- what came of it --------------------------------------------------------

  const std::vector<Msg<schema::Placed>>& said() const {
    return gateway.of<schema::Placed>();
  }

  std::size_t recounts_asked(std::uint32_t node) const {
    return shards.at(node).of<schema::Recount>().size();
  }

  std::size_t books() const {
    return rejector.of<schema::Book>().size();
  }

  std::uint64_t count(const std::string& wanted) const {
    std::map<std::string, std::uint64_t> seen;
    counts->each([&](auto name, auto, auto value) { seen[name] = value; });
    return seen.at(wanted);
  }

  test::listening_gateway::notes gateway;
  test::listening_rejector::notes rejector;
  std::map<std::uint32_t, test::listening_group::notes> groups{{0, {}}, {1, {}}};
  std::map<std::uint32_t, test::listening_instance::notes> instances{{0, {}}, {1, {}}};
  std::map<std::uint32_t, test::listening_shard::notes> shards{{0, {}}, {1, {}}};
  lab bench;
  std::shared_ptr<probe> counts;
  conductor_actor conductor;

private:
  options how_;
};

} // namespace perigee::conductor
