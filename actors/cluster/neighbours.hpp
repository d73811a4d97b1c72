/// \file
/// neighbours: the other nodes of a cluster, as one process knows them.
#pragma once

#include "actors/cluster/dial_list.hpp"
#include "actors/cluster/introductions.hpp"
#include "actors/cluster/node_card.hpp"
#include "actors/cluster/probe.hpp"
#include "actors/cluster/seat.hpp"
#include "actors/runtime/pending_table.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace spdlog {
class logger;
}

namespace perigee::cluster {

/// What a process must know to have neighbours.
struct neighbourhood {
  node_card card;                          ///< Its own.
  std::vector<std::string> nodes;          ///< Their names, by index; its own, too.
  std::vector<node_index> dials;           ///< Whom it connects to. All others come.
  std::vector<schema::Role> roles_needed;  ///< Elsewhere, for a request to be served.
  std::shared_ptr<dial_list> list;         ///< What its threads wait at.
  std::shared_ptr<credentials> credential; ///< How names are proved.

  /// How long a neighbour may take over one step of the acquaintance.
  std::chrono::nanoseconds limit = std::chrono::seconds{5};
};

/// Part of the state of a cluster's actor: meets other nodes, seats their actors, and
/// takes them for dead when the connection ends.
///
/// A neighbour that is lost is *fenced*, before its transfer actor counts as down: this
/// node's own sees to it that nothing of the lost one's reaches memory here any more.
/// Only then may the node be met again.
///
/// Two others may be apart although this node has met both. Each tells of whom it does
/// not reach to those who place requests.
///
/// neighbours_seats.cpp has what nodes that have met say to each other; neighbours.cpp
/// how they meet and are lost.
class neighbours {
public:
  using desk = rt::desk<node_actor>;

  struct calls {
    std::function<void(const seat&)> came;  ///< One is up.
    std::function<void(const seat&)> went;  ///< One is up no longer.
    std::function<void(const seat&)> parts; ///< One is up, and soon will not be.

    /// Two nodes do not reach each other, as the first has said; or do again.
    std::function<void(node_index who, node_index other, bool apart)> apart;

    std::function<void(const introducing_actor&)> met; ///< Is to be told who is here.
    std::function<bool(node_index, std::uint64_t life)> fence; ///< False: nobody can.
    std::function<void(std::chrono::nanoseconds due, std::uint64_t epoch)> set_timer;
  };

  neighbours(desk& by, node_actor self, rt::roster& roster, neighbourhood how,
             std::shared_ptr<spdlog::logger> log, std::shared_ptr<probe> counts,
             calls told);

  /// Begins to connect to those whom it dials.
  void begin();

  // -- as who connects
  void on_found(const Msg<schema::Found>& said, const receiving_actor& there);
  void on_met(const Msg<schema::Met>& said, const introducing_actor& there);

  // -- as who is connected to
  Msg<schema::Welcome> on_hello(const Msg<schema::Hello>& wish);
  void on_prove(const Msg<schema::Prove>& said, const greeting_actor& greeter,
                const introducing_actor& there);

  // -- as either
  template <class Handle>
  void on_join(const Msg<schema::Join>& said, const Handle& who);
  void on_leave(const Msg<schema::Leave>& said);
  void on_fenced(node_index which, std::uint64_t life);
  void on_timer(std::uint64_t epoch);

  /// Whoever could fence is gone, and its transports with it.
  void on_no_fence();

  void on_parting(const Msg<schema::Parting>& said);
  void on_lost(const Msg<schema::Lost>& said);
  void on_apart(const Msg<schema::Apart>& said);

  /// Of one's own transfer actor.
  void on_reached(const Msg<schema::Reached>& said);

  /// Tells all, or one, that this node is to end.
  void part();
  void part_from(const introducing_actor& there);

  /// Tells all that one of this node's own has its seat no longer.
  void tell_left(const seat& own);

  template <class See>
  void for_each_met(See see) const {
    for (const auto& [index, one] : all_)
      if (one.now == state::met)
        see(one.there);
  }

  template <class See>
  void for_each_seat(See see) const {
    for (const auto& [index, one] : all_)
      for (const auto& [where, who] : one.seats)
        see(*who);
  }

  /// Who does not reach whom, as far as this node knows.
  template <class See>
  void for_each_apart(See see) const {
    for (const auto& [index, one] : all_) {
      if (is_apart(one))
        see(how_.card.index, index);
      for (auto other : one.apart_from)
        see(index, other);
    }
  }

  bool has_roles_needed() const;

  /// Whether that node is to end, so that nothing new is to be placed there.
  bool is_parting(node_index node) const;
  std::size_t met() const;

private:
  enum class state : std::uint8_t {
    away,
    greeting, ///< We said Hello.
    received, ///< We were told Hello.
    met,
    fencing, ///< It is lost; see above.
  };

  using place = std::pair<schema::Role, std::uint32_t>;

  /// Whom somebody said to be, in a Hello. Changes nothing until it is proved: anybody
  /// may say Hello.
  struct claim {
    std::uint64_t life = 0;
    rt::actor_tag tag{};
    challenge given{};
    greeting_actor greeter; ///< Set once it is proved, as is
    introducing_actor there;
  };

  struct neighbour {
    state now = state::away;
    std::uint64_t life = 0; ///< The last one that has proved its name.
    std::uint64_t acquaintance
      = 0; ///< Counts connections: what is said of an earlier one is stale.
    rt::actor_tag tag{}; ///< Of its cluster's actor.
    std::optional<claim> claimed{};
    introducing_actor there;
    std::map<place, std::unique_ptr<seat>> seats;
    bool is_parting = false;
    bool is_reached = true;            ///< By KV, as far as is known.
    std::set<node_index> apart_from{}; ///< As it says.
    std::string last_complaint;        ///< That was logged.
  };

  neighbour* find(std::uint32_t index);

  /// The node that is met and says `said` of itself; null, and it is counted, if that is
  /// not so.
  template <class Said>
  neighbour* find_met(const Said& said) {
    auto* one = find(said.getIndex());
    if (one && one->now == state::met && one->life == said.getLife()
        && is_from(*one, said.getHeader()))
      return one;
    probe_->dropped_stale();
    return nullptr;
  }
  bool dials(node_index whom) const;
  void say_hello(node_index whom, const receiving_actor& there);
  void on_welcome(node_index whom, const receiving_actor& there, const challenge& given,
                  schema::Welcome::Reader said);
  std::optional<std::string> fault_of(node_index whom, const challenge& given,
                                      schema::Welcome::Reader said);
  void meet_claimed(node_index whom);
  void is_met(node_index whom, const introducing_actor& there);
  void expect(node_index whom, state next);
  void give_up(node_index whom, const std::string& why);
  void lose(node_index whom, const std::string& why);
  void part_company(node_index whom, const std::string& why);
  static bool is_apart(const neighbour& one);
  void tell_apart(node_index whom);
  void tell_all_apart(const neighbour& listener);
  void say_apart(const introducing_actor& listener, node_index whom, bool apart);
  void forget_what_it_said(node_index whom);
  void finish_fence(node_index whom);
  void clear(neighbour& of, bool movers_too);
  bool is_from(const neighbour& one, schema::Header::Reader header) const;
  std::string name(node_index of) const;
  void complain(node_index of, const std::string& why);
  void count();

  desk& desk_;
  node_actor self_;
  rt::roster& roster_;
  neighbourhood how_;
  std::shared_ptr<spdlog::logger> log_;
  std::shared_ptr<probe> probe_;
  calls told_;
  std::map<node_index, neighbour> all_; // but itself
  rt::pending_table<node_index, std::uint64_t>
    waits_; // for its next step: acquaintance
};

} // namespace perigee::cluster
