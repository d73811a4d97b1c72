/// \file
/// A transfer actor in the lab, and who asks it.
#pragma once

#include "actors/asker.hpp"
#include "actors/transfer/transfer.hpp"
#include "tests/actors/quiet_cluster.hpp"
#include "tests/actors/transfer/doubles.hpp"
#include "tests/lab/perigee_messages.hpp"
#include "tests/transport/recorder.hpp"

namespace perigee::transfer {

using lab = test::lab<caf::id_block::perigee>;
using schema::MoveFault;
using transport::gate_id;
using transport::segment_id;
using transport::test::memory;
using transport::test::small;

inline constexpr std::uint64_t block_bytes = 192; // of a small block
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
  explicit node(std::uint64_t seed, options how = {}, std::uint32_t to_host = 0)
    : bench(seed), how_(how), subject(bench.adopt(start_one(1))) {
    REQUIRE(shared.segments->add(from.as_segment()));
    auto there = to.as_segment();
    there.host = to_host;
    REQUIRE(shared.segments->add(std::move(there)));
    bench.roster().seat(transfer_name{}, {subject, {1, 1}, tag_of_subject()});
    auto group = bench.spawn<asking_group>(&heard);
    bench.roster().seat(prefill_name{}, {group, {1, 1}, bench.tag()});
    auto shard = bench.spawn<waiting_shard>(&quiesced);
    bench.roster().seat(shard_name{}, {shard, {1, 1}, bench.tag()});
    auto cluster = bench.spawn<test::quiet_cluster>();
    bench.roster().seat(cluster_name{}, {cluster, {1, 1}, bench.tag()});
  }

  rt::actor_tag tag_of_subject() {
    return rt::tag_of(
      rt::full_name(bench.world().node, bench.world().life, "transfer", {0, 1}));
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

} // namespace perigee::transfer
