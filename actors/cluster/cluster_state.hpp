/// \file
/// cluster_state: what a cluster's actor does. Of its own .cpp files alone.
///
/// cluster_disruptions.cpp has what happens to it by plan; cluster_elsewhere.cpp what it
/// has to do with other nodes, cluster_parting.cpp how one node of several ends;
/// cluster.cpp all else.
#pragma once

#include "actors/cluster/cluster.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"

#include <map>
#include <set>
#include <variant>

namespace perigee::cluster {

class cluster_state {
public:
  using handle = node_actor;
  static constexpr const char* name = "cluster";

  cluster_state(handle::pointer self, const rt::world& in, rt::roster* roster,
                std::shared_ptr<units> all, options how, std::shared_ptr<probe> counts);
  ~cluster_state();
  cluster_state(const cluster_state&) = delete;
  cluster_state& operator=(const cluster_state&) = delete;

  handle::behavior_type make_behavior();

private:
  // The index of a unit to start again, or one of these.
  using timer_key = std::uint64_t;
  static constexpr timer_key drain_is_over = ~timer_key{0};
  static constexpr timer_key look_at_refusals = ~timer_key{1};
  static constexpr timer_key next_disruption = ~timer_key{2};
  static constexpr timer_key look_whether_idle = ~timer_key{3};
  static constexpr std::size_t own_timer_keys = 4;
  static constexpr std::chrono::nanoseconds nothing_at_all{0};

  // Epochs of timers: whose.
  enum timer_of : std::uint64_t { own_timers, neighbours_timers, timer_owners };

  void take_seats(const rt::term& which);

  // -- starting
  void start_unit(std::size_t i, std::vector<own_seat*>& newcomers);
  void introduce(const std::vector<own_seat*>& newcomers);
  void introduce_elsewhere(own_seat& newcomer);
  void tell_of(own_seat& whom, const seat& of);

  // -- ending
  void on_ended(std::size_t i, own_seat& who, const rt::error& why);
  void clear(own_seat& who);
  void start_again_later(std::size_t i);
  void start_again(const std::vector<std::size_t>& which);

  // -- disruptions
  void disrupt();
  void begin_outage(const disruption& one);
  void end_outage(const disruption& one);
  std::vector<std::size_t> concerned_by(const disruption& one) const;
  void tell_room(node_index node);

  // -- elsewhere
  void meet_others();
  neighbours::calls told_of_others();
  bool fence(node_index which, std::uint64_t life);
  void on_found(const Msg<schema::Found>& said, const receiving_actor& there);
  rt::reply<schema::Welcome> on_hello(const Msg<schema::Hello>& wish);
  void on_prove(const Msg<schema::Prove>& said, const greeting_actor& greeter,
                const introducing_actor& there);
  void on_met(const Msg<schema::Met>& said, const introducing_actor& there);
  template <class Handle>
  void on_join(const Msg<schema::Join>& said, const Handle& who);
  void on_leave(const Msg<schema::Leave>& said);
  void on_parting(const Msg<schema::Parting>& said);
  void on_lost(const Msg<schema::Lost>& said);
  void on_apart(const Msg<schema::Apart>& said);
  void on_reached(const Msg<schema::Reached>& said);
  void tell_apart(node_index who, node_index other, bool apart);
  void on_fenced(const Msg<schema::Fenced>& said);

  // -- draining
  void on_drain(const Msg<schema::Drain>& wish);
  void on_drained(const Msg<schema::Drained>& said);
  void forget_to_drain(const gateway_name& gateway);
  void part();
  void look_whether_idle_later();
  void end_if_idle();
  void end_all();
  void end_if_alone();

  // -- timers
  void wake_at(std::chrono::nanoseconds due, std::uint64_t epoch, timer_of whose);
  void on_tick(const Msg<schema::Tick>& timer);
  void on_timer(timer_key key);

  // -- looking
  void look_at_refusals_later();
  void log_refusals();
  rt::reply<schema::Description> on_describe(const Msg<schema::Describe>& wish);
  bool is_ready() const;

  struct seat_counts {
    std::size_t up = 0;
    std::size_t down = 0;
  };

  seat_counts census() const;
  void count();

  template <class See>
  void for_each_up(See see) {
    for (auto& one : units_)
      for (auto& each : one.seats)
        if (each->is_up())
          see(*each);
  }

  static std::string name_in_log(const own_seat& one);

  handle::pointer self_;
  rt::desk<handle> desk_;
  std::shared_ptr<spdlog::logger> log_;
  caf::actor_system& system_;
  rt::roster& roster_;
  units units_;
  options how_;
  std::shared_ptr<probe> probe_;
  std::vector<respawn_plan> plans_; // of units_
  std::vector<bool> are_away_;      // of units_: not started again before it is over
  disruption_plan disruptions_;
  std::set<node_index> full_; // nodes whose shards have no room
  rt::pending_table<timer_key, std::monostate> timers_;
  std::optional<neighbours> neighbours_; // if there is anything elsewhere
  std::set<gateway_name> undrained_;
  std::map<std::string, std::uint64_t> refusals_logged_;
  std::optional<std::chrono::nanoseconds> idle_since_; // while it parts
  bool draining_ = false;
  bool parting_ = false;
  bool ending_ = false;
};

} // namespace perigee::cluster
