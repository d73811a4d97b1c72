/// \file
/// stage_set: a gateway's actor among doubles, in the lab.
#pragma once

#include "tests/actors/gateway/neighbours.hpp"

namespace perigee::gateway {

/// A gateway among doubles.
struct stage_set {
  explicit stage_set(options limits = {}, std::uint64_t seed = 1) : in(seed) {
    seat<cluster_double>(0);
    seat<rejector_double>(0);
    seat<conductor_double>(0);
    seat<prefill_double>(0);
    seat<prefill_double>(1);
    seat<decode_double>(0);
    seat<decode_double>(1);
    open(limits);
    in.settle();
  }

  ~stage_set() {
    in.roster().clear();
  }

  void open(options limits) {
    rt::place where{0, 1};
    gateway = in.adopt(start(in.world(), where, hears, limits, counts));
    auto tag = rt::tag_of(rt::full_name("lab", 1, "gateway", where));
    in.roster().seat(gateway_name{}, {gateway, {1, 1}, tag});
  }

  template <class Double>
  void seat(std::uint32_t index, std::uint32_t incarnation = 1) {
    rt::place where{index, incarnation};
    auto who = in.spawn_at<Double>(where, how);
    using handle = typename Double::handle;
    in.roster().seat(rt::name<handle>{{}, index},
                     {who, {1, incarnation}, in.tag_of(who)});
    actors[Double::name + std::string{"."} + std::to_string(index)]
      = caf::actor_cast<caf::actor>(who);
  }

  /// Ends an actor, clears its seat, and tells the gateway.
  template <class Double>
  void lose(schema::Role role, std::uint32_t index) {
    using handle = typename Double::handle;
    rt::kill(actors.at(Double::name + std::string{"."} + std::to_string(index)));
    in.roster().vacate(rt::name<handle>{{}, index}, {1, 1});
    tell_member(role, index, false);
  }

  template <class Double>
  void replace(schema::Role role, std::uint32_t index) {
    seat<Double>(index, 2);
    tell_member(role, index, true);
  }

  void tell_member(schema::Role role, std::uint32_t index, bool up) {
    in.tell<schema::Member>(gateway, [&](schema::Member::Builder news) {
      news.setRole(role);
      news.initWho().setIndex(index);
      news.setUp(up);
    });
  }

  void submit(std::uint64_t stream, std::uint32_t tokens = 20,
              std::uint64_t limit_ns = 0, std::uint32_t first = 0, bool last = true) {
    in.tell<schema::Submit>(gateway, [&](schema::Submit::Builder wish) {
      wish.setStream(stream);
      wish.setFirstToken(first);
      auto list = wish.initTokens(tokens);
      for (unsigned i = 0; i < tokens; ++i)
        list.set(i, first + i);
      wish.setLast(last);
      wish.initSampling().setTemperature(0.25);
      wish.setTokensMax(5);
      wish.setRemainingNs(limit_ns);
      auto stages = wish.initStages();
      stages.setParseNs(100);
      stages.setTokenizeNs(200);
    });
  }

  void withdraw(std::uint64_t stream) {
    in.tell<schema::Withdraw>(gateway, [&](auto wish) { wish.setStream(stream); });
  }

  /// The decode instance says one more token.
  void go_on(std::uint32_t index = 0) {
    in.tell<schema::Due>(
      caf::actor_cast<decode_actor>(actors.at("decode." + std::to_string(index))),
      [](auto) {});
    in.settle();
  }

  bool holds_nothing() const {
    return counts->waiting() == 0 && counts->running() == 0
           && counts->cancelling() == 0;
  }

  test::lab<caf::id_block::perigee> in;
  script_ptr how = std::make_shared<script>();
  std::shared_ptr<listening_patron> hears = std::make_shared<listening_patron>();
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  gateway_actor gateway;
  std::map<std::string, caf::actor> actors;
};

} // namespace perigee::gateway
