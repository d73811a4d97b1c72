/// \file
/// two_nodes: two transfer actors of two nodes, and wires between them that a test can cut.
#pragma once

#include "tests/actors/transfer/node.hpp"
#include "tests/actors/transfer/wired_transport.hpp"
#include "transport/inline_local.hpp"

#include <catch2/catch.hpp>

namespace perigee::transfer {

using namespace std::chrono_literals;
using transport::test::wire;
using transport::test::wired_transport;

/// What a node's cluster was told.
struct told_cluster {
  std::vector<std::uint64_t> fenced;
  std::vector<schema::Reached::How> reached;
};

/// Has the seat of a node's cluster, and writes down what it is told.
class hearing_cluster final : public test::quiet_cluster {
public:
  static constexpr const char* name = "hearing_cluster";

  hearing_cluster(handle::pointer self, const rt::world& in, told_cluster* told)
    : quiet_cluster(self, in, name), told_(told) {}

private:
  void on_fenced(const Msg<schema::Fenced>& said) override {
    told_->fenced.push_back(said->getLife());
  }
  void on_reached(const Msg<schema::Reached>& said) override {
    told_->reached.push_back(said->getHow());
  }

  told_cluster* told_;
};

/// One of the two, and a segment.
struct end {
  end(lab& bench, std::uint32_t index, const std::vector<wire*>& wires,
      std::uint64_t segment, line_plan plan)
    : which{index}, own{segment_id{segment}, static_cast<std::uint8_t>(segment)} {
    REQUIRE(shared.segments->add(own.as_segment()));
    auto in = bench.world();
    in.node = "m" + std::to_string(index);
    in.index = which;
    options how;
    how.lines = std::move(plan);
    how.draw = [drawn = std::uint8_t{0}]() mutable {
      transport::ticket fresh;
      fresh.secret[0] = std::byte{++drawn};
      return fresh;
    };
    auto make = [wires](const shared_memory& memory, const news_of& news) {
      paths all;
      all.within = std::make_unique<transport::inline_local>(*memory.segments);
      for (auto* one : wires)
        all.ways.push_back(
          {one->name,
           std::make_unique<wired_transport>(*one, *memory.segments, news(one->name)),
           one->is_within_host});
      all.host = "here";
      return all;
    };
    actor = bench.adopt(start(in, {.incarnation = 1}, shared, make, how, counts));
    tag = rt::tag_of(rt::full_name(in.node, in.life, "transfer", {0, 1}));
    bench.roster().seat(transfer_name{which, 0}, {actor, {1, 1}, tag});
    auto cluster = bench.spawn<hearing_cluster>(&told);
    bench.roster().seat(cluster_name{which, 0}, {cluster, {1, 1}, bench.tag()});
  }

  std::uint64_t count(const std::string& wanted) const {
    std::map<std::string, std::uint64_t> seen;
    counts->each([&](auto name, auto, auto value) { seen[name] = value; });
    return seen.at(wanted);
  }

  node_index which;
  memory own;
  shared_memory shared{std::make_shared<transport::segment_table>(),
                       transport::gate_board::make()};
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  told_cluster told;
  transfer_actor actor;
  rt::actor_tag tag{};
};

/// What the first node has for the second, and the second for the first.
struct both_plans {
  line_terms second, first;
};

struct two_nodes {
  explicit two_nodes(std::uint64_t seed, both_plans plans = {})
    : bench(seed), first(bench, 0, {&best, &other}, 1, {{node_index{1}, plans.second}}),
      second(bench, 1, {&best, &other}, 2, {{node_index{0}, plans.first}}) {
    auto group = bench.spawn<asking_group>(&heard);
    bench.roster().seat(prefill_name{}, {group, {1, 1}, bench.tag()});
    auto shard = bench.spawn<waiting_shard>(&quiesced);
    bench.roster().seat(shard_name{}, {shard, {1, 1}, bench.tag()});
  }

  ~two_nodes() {
    first.actor = nullptr;
    second.actor = nullptr;
  }

  void tell_member(const end& whom, const end& of, bool up,
                   schema::Role role = schema::Role::TRANSFER) {
    bench.tell<schema::Member>(whom.actor, [&](schema::Member::Builder news) {
      news.setRole(role);
      news.initWho().setNode(static_cast<std::uint32_t>(of.which));
      news.setTag(static_cast<std::uint64_t>(of.tag));
      news.setUp(up);
    });
    bench.settle();
  }

  void meet() {
    tell_member(first, second, true);
    tell_member(second, first, true);
  }

  /// Asked of the first node.
  template <class T>
  void ask(std::uint64_t ticket, std::uint64_t from, std::uint64_t to,
           std::uint64_t open_gate = 0, bool again = false) {
    bench.tell<T>(first.actor, [&](typename T::Builder asked) {
      set_asker(asked.initAsker(), prefill_name{});
      asked.setTicket(ticket);
      if constexpr (std::is_same_v<T, schema::Push>) {
        asked.setAgain(again);
        asked.setToNode(again ? 1 : 0);
      }
      auto all = asked.initWhat();
      all.setFrom(from);
      all.setTo(to);
      all.setSources({0, 1});
      all.setTargets({5, 6});
      all.setOpenGate(open_gate);
    });
    bench.settle();
  }

  /// Of what the first node was asked.
  void abort(std::uint64_t ticket) {
    bench.tell<schema::Abort>(first.actor, [&](schema::Abort::Builder wish) {
      set_asker(wish.initAsker(), prefill_name{});
      wish.setTicket(ticket);
    });
    bench.settle();
  }

  void fence(const end& whom, const end& of, std::uint64_t life) {
    bench.tell<schema::Fence>(whom.actor, [&](schema::Fence::Builder wish) {
      wish.setIndex(static_cast<std::uint32_t>(of.which));
      wish.setLife(life);
    });
    bench.settle();
  }

  MoveFault fault_of(std::uint64_t ticket) const {
    REQUIRE(heard.contains(ticket));
    return heard.at(ticket)->getFault();
  }

  static bool arrived(const memory& from, const memory& to) {
    for (std::uint32_t block : {0u, 1u})
      for (std::uint32_t layer = 0; layer < small.layers; ++layer)
        if (from.layer(block, layer) != to.layer(block + 5, layer))
          return false;
    return true;
  }

  wire best{.name = "best"}, other{.name = "other"};
  asking_group::answers heard;
  std::vector<std::uint64_t> quiesced;
  lab bench;
  end first, second;
};

} // namespace perigee::transfer
