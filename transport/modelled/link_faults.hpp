/// \file
/// link_faults: how much of their bandwidth links have, as time goes by.
#pragma once

#include "transport/modelled/fair_share.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace perigee::transport {

/// From `begins` on, and before `ends`, each of `links` has that share of its capacity.
struct link_fault {
  std::chrono::nanoseconds begins;
  std::chrono::nanoseconds ends;
  flow_path links;
  double share; ///< 0: it is cut.
};

/// Pure: it is told the time, which never goes back.
class link_faults {
public:
  using nanoseconds = std::chrono::nanoseconds;

  /// `capacities` are those of all links, without a fault.
  link_faults(std::vector<double> capacities, std::vector<link_fault> all);

  struct change {
    link_index link;
    double bytes_per_s;
  };

  /// Links that have another capacity at `now` than they had at the last call, or than
  /// without a fault.
  std::vector<change> take_changes(nanoseconds now);

  /// When the next fault begins or ends, after `now`.
  std::optional<nanoseconds> next_after(nanoseconds now) const;

private:
  double capacity_at(link_index link, nanoseconds now) const;

  std::vector<double> whole_;
  std::vector<double> now_;
  std::vector<link_fault> all_;
  flow_path touched_; // by any fault, each once
};

} // namespace perigee::transport
