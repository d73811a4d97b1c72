/// \file
/// meeting_node: nodes of a cluster, each with its own roster, in one actor system:
/// connections are handles that a test gives, and end when it ends an actor.
#pragma once

#include "tests/actors/cluster/doubles.hpp"
#include "tests/lab/node_messages.hpp"

#include <catch2/catch.hpp>

#include <functional>

namespace perigee::cluster {

using bench_type = test::lab<caf::id_block::perigee, caf::id_block::perigee_nodes>;

/// Signs by a secret that all of a test share.
class shared_secret final : public credentials {
public:
  explicit shared_secret(std::string secret) : secret_(std::move(secret)) {}

  challenge draw() override {
    challenge fresh{};
    fresh[0] = std::byte{++drawn_};
    return fresh;
  }
  proof sign(std::string_view what) override {
    auto all = secret_ + std::to_string(std::hash<std::string_view>{}(what));
    const auto* bytes = reinterpret_cast<const std::byte*>(all.data());
    return {bytes, bytes + all.size()};
  }
  bool verify(node_index, std::string_view what, const proof& shown) override {
    return shown == sign(what);
  }

private:
  std::string secret_;
  std::uint8_t drawn_ = 0;
};

struct habits {
  std::uint64_t life = 1;
  std::string secret = "a";
  std::byte topology{1};
  std::string name = {};   ///< Empty: its own.
  std::uint32_t nodes = 2; ///< Of the cluster.

  /// More than a rejector and a group.
  std::function<void(units&, const rt::world&, std::shared_ptr<notebook>)> add = {};
};

/// One node: a rejector and a group.
class node {
public:
  node(bench_type& bench, std::uint32_t index, const habits& how = {})
    : bench_(bench), index_(index),
      in_{bench.world().system, bench.world().record, roster,   bench.world().log,
          name_of_node(index),  node_index{index},    how.life, 1} {
    units all(2);
    add_seat<rejector_double, schema::Role::REJECTOR>(all[0], in_, index, notes);
    add_seat<prefill_double, schema::Role::PREFILL>(all[1], in_, index, notes);
    if (how.add)
      how.add(all, in_, notes);
    options with;
    with.elsewhere = neighbourhood{};
    auto& there = *with.elsewhere;
    there.card = {"test",
                  how.name.empty() ? in_.node : how.name,
                  in_.index,
                  how.life,
                  {how.topology},
                  {},
                  {},
                  "1"};
    for (std::uint32_t i = 0; i < how.nodes; ++i) {
      there.nodes.push_back(name_of_node(i));
      if (i < index)
        there.dials.push_back(node_index{i});
    }
    there.list = list;
    there.credential = std::make_shared<shared_secret>(how.secret);
    actor = bench.adopt(start(in_, {}, roster, std::move(all), with, counts));
    bench.settle();
  }

  node(const node&) = delete;
  node& operator=(const node&) = delete;

  ~node() {
    rt::kill(actor);
    bench_.settle();
    actor = nullptr;
    roster.clear();
  }

  /// As the thread that connects would have it.
  void find(const receiving_actor& other) {
    find(other, 1 - index_);
  }
  void find(const node& other) {
    find(face_of(other.actor), other.index_);
  }
  void find(const receiving_actor& other, std::uint32_t index) {
    REQUIRE(wishes(index));
    list->take(node_index{index});
    rt::doorway door{in_, "connector_" + std::to_string(finds_++)};
    door.tell<schema::Found>(
      face_of(actor), rt::unprompted, [&](auto news) { news.setIndex(index); }, other);
    bench_.settle();
  }

  std::uint64_t counted(const std::string& what) const {
    std::uint64_t found = 0;
    counts->each([&](auto name, auto, auto value) {
      if (name == what)
        found = static_cast<std::uint64_t>(value);
    });
    return found;
  }

  bool wishes() const {
    return wishes(1 - index_);
  }
  bool wishes(std::uint32_t whom) const {
    return list->is_wished(node_index{whom});
  }

  /// Actors here that have heard that the group there is up, or down.
  std::size_t heard(const std::string& what) const {
    return notes->count("heard " + what + " prefill." + std::to_string(1 - index_));
  }

  bool seats(std::uint32_t whose) const {
    return roster.find(prefill_name{node_index{whose}, whose}).has_value();
  }

  static std::string name_of_node(std::uint32_t index) {
    std::string name{"n"};
    return name += std::to_string(index);
  }

  rt::roster roster{64};
  std::shared_ptr<notebook> notes = std::make_shared<notebook>();
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  std::shared_ptr<dial_list> list = std::make_shared<dial_list>();
  cluster_actor actor;

private:
  bench_type& bench_;
  std::uint32_t index_;
  rt::world in_;
  unsigned finds_ = 0;
};

} // namespace perigee::cluster
