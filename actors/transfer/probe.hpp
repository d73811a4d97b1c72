/// \file
/// What a transfer actor counts.
#pragma once

#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"
#include "actors/transfer/line_census.hpp"
#include "schemas/movement.capnp.h"

#include <array>

namespace perigee::transfer {

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class probe {
public:
  void began(std::size_t open) noexcept {
    movements_open_.set(open);
  }

  void ended(schema::MoveFault fault, std::uint64_t bytes, std::size_t open) noexcept {
    movements_open_.set(open);
    if (fault == schema::MoveFault::NONE) {
      movements_total_.add();
      bytes_moved_total_.add(bytes);
    } else {
      faults_total_[static_cast<std::size_t>(fault) % faults_total_.size()].add();
    }
  }

  void lines(std::size_t up) noexcept {
    lines_up_.set(up);
  }

  /// To other nodes, one by one.
  line_census& census() noexcept {
    return census_;
  }
  const line_census& census() const noexcept {
    return census_;
  }

  void lost_line() noexcept {
    lines_lost_total_.add();
  }

  void refused_segment() noexcept {
    segments_refused_total_.add();
  }

  void moved_again() noexcept {
    moved_again_total_.add();
  }

  void dropped_stale() noexcept {
    stale_total_.add();
  }

  std::uint64_t bytes_moved_total() const noexcept {
    return bytes_moved_total_.value();
  }

  /// Shows each number to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    auto faulty = [&](schema::MoveFault fault) {
      return faults_total_[static_cast<std::size_t>(fault)].value();
    };
    using why = schema::MoveFault;
    see("movements_total", "Movements that succeeded", movements_total_.value());
    see("bytes_moved_total", "Bytes of those", bytes_moved_total_.value());
    see("movements_open", "Movements not answered yet", movements_open_.value());
    see("gone_total", "Movements from or to a segment that is not there",
        faulty(why::GONE));
    see("out_of_range_total", "Movements of what a segment has not",
        faulty(why::OUT_OF_RANGE));
    see("timed_out_total", "Movements not done in time", faulty(why::TIMED_OUT));
    see("aborted_total", "Movements ended by their asker, or with it",
        faulty(why::ABORTED));
    see("starved_total", "Movements whose layers did not come", faulty(why::STARVED));
    see("busy_total", "Movements refused: too many were open", faulty(why::BUSY));
    see("broken_total", "Movements that the transport failed", faulty(why::BROKEN));
    see("lines_up", "Other nodes that KV can be moved to and from", lines_up_.value());
    see("lines_lost_total", "Connections for KV that have failed",
        lines_lost_total_.value());
    see("moved_again_total",
        "Movements begun again because their connection had failed",
        moved_again_total_.value());
    see("segments_refused_total", "Segments of other nodes that made no sense",
        segments_refused_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer, or too late",
        stale_total_.value());
  }

private:
  rt::counter movements_total_;
  rt::counter bytes_moved_total_;
  rt::gauge movements_open_;
  std::array<rt::counter, 8> faults_total_; // by MoveFault
  rt::gauge lines_up_;
  rt::counter lines_lost_total_;
  rt::counter moved_again_total_;
  rt::counter segments_refused_total_;
  rt::counter stale_total_;
  line_census census_;
};

} // namespace perigee::transfer
