/// \file
/// What a cluster counts.
#pragma once

#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"

#include <cstddef>

namespace perigee::cluster {

class probe {
public:
  void seated(std::size_t up, std::size_t down, bool is_ready) noexcept {
    actors_up_.set(up);
    actors_down_.set(down);
    ready_.set(is_ready ? 1 : 0);
  }

  void lost() noexcept {
    actors_lost_total_.add();
  }

  void respawned() noexcept {
    respawns_total_.add();
  }

  void gave_up() noexcept {
    units_given_up_total_.add();
  }

  // -- other nodes

  void knows(std::size_t met, std::size_t all) noexcept {
    nodes_met_.set(met);
    nodes_away_.set(all - met);
  }

  void lost_node() noexcept {
    nodes_lost_total_.add();
  }

  void turned_away() noexcept {
    turned_away_total_.add();
  }

  void dropped_stale() noexcept {
    stale_total_.add();
  }

  std::uint64_t units_given_up() const noexcept {
    return units_given_up_total_.value();
  }

  std::uint64_t respawns() const noexcept {
    return respawns_total_.value();
  }

  /// A request that comes now can be served.
  bool is_ready() const noexcept {
    return ready_.value() != 0;
  }

  /// Shows each number to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    see("ready", "1 if a request that comes now can be served", ready_.value());
    see("actors_up", "Actors that have their seat", actors_up_.value());
    see("actors_down", "Actors that should have a seat and have not",
        actors_down_.value());
    see("actors_lost_total", "Actors that ended by themselves",
        actors_lost_total_.value());
    see("respawns_total", "Actors that were started again", respawns_total_.value());
    see("units_given_up_total", "Units that died too often to be started again",
        units_given_up_total_.value());
    see("nodes_met", "Other nodes that this one is connected to", nodes_met_.value());
    see("nodes_away", "Other nodes that it is not", nodes_away_.value());
    see("nodes_lost_total", "Connections to nodes that have ended",
        nodes_lost_total_.value());
    see("turned_away_total", "Processes that did not fit, or did not prove their name",
        turned_away_total_.value());
    see("stale_total", "Messages dropped: of another life, or not expected",
        stale_total_.value());
  }

private:
  rt::gauge ready_;
  rt::gauge actors_up_;
  rt::gauge actors_down_;
  rt::counter actors_lost_total_;
  rt::counter respawns_total_;
  rt::counter units_given_up_total_;
  rt::gauge nodes_met_;
  rt::gauge nodes_away_;
  rt::counter nodes_lost_total_;
  rt::counter turned_away_total_;
  rt::counter stale_total_;
};

} // namespace perigee::cluster
