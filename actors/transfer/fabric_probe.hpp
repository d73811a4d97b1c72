/// \file
/// What a modelled network counts.
#pragma once

#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"

namespace perigee::transfer {

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class fabric_probe {
public:
  void began(std::size_t open) noexcept {
    flows_open_.set(open);
  }

  void arrived(std::uint64_t bytes, std::size_t open) noexcept {
    flows_total_.add();
    bytes_total_.add(bytes);
    flows_open_.set(open);
  }

  void stopped(std::size_t open) noexcept {
    flows_stopped_total_.add();
    flows_open_.set(open);
  }

  void refused() noexcept {
    busy_total_.add();
  }

  void dropped_stale() noexcept {
    stale_total_.add();
  }

  /// Shows each number to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    see("flows_total", "Flows between nodes that arrived", flows_total_.value());
    see("bytes_total", "Bytes of those", bytes_total_.value());
    see("flows_open", "Flows under way", flows_open_.value());
    see("flows_stopped_total", "Flows ended before they arrived",
        flows_stopped_total_.value());
    see("busy_total", "Flows refused: too many were under way", busy_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer",
        stale_total_.value());
  }

private:
  rt::counter flows_total_, bytes_total_, flows_stopped_total_, busy_total_,
    stale_total_;
  rt::gauge flows_open_;
};

} // namespace perigee::transfer
