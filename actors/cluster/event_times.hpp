/// \file
/// When the events of a replay begin and end.
#pragma once

#include "actors/cluster/topology.hpp"

#include <chrono>
#include <string>

namespace perigee::cluster {

/// From `begins` on, and before `ends`.
struct event_times {
  std::chrono::nanoseconds begins{};
  std::chrono::nanoseconds ends = std::chrono::nanoseconds::max();

  bool ever_ends() const {
    return ends != std::chrono::nanoseconds::max();
  }

  bool meets(const event_times& other) const {
    return begins < other.ends && other.begins < ends;
  }
};

/// On a clock that showed `trace_began` when the trace began. A killed actor that is
/// started again at once is away for no time.
event_times times_of(const event_settings& one,
                     std::chrono::nanoseconds trace_began = {});

/// What happens to what, for people: "kill decode_instance.0 of d1", "cut_link p0 to d1".
std::string description_of(const event_settings& one);

/// Whether it is about a link between nodes.
bool is_of_link(const event_settings& one);

} // namespace perigee::cluster
