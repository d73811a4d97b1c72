/// \file
/// flow_table: when modelled transfers end that share links.
#pragma once

#include "transport/modelled/fair_share.hpp"

#include <chrono>
#include <map>
#include <optional>

namespace perigee::transport {

/// Flows of bytes over shared links. What each gets is worked out anew whenever one
/// begins or ends; what that comes to is rounded up, once, to whole nanoseconds.
///
/// Pure: it is told the time, which never goes back. One owner.
/// Cost: as fair_share(), at each beginning and end.
class flow_table {
public:
  using nanoseconds = std::chrono::nanoseconds;
  using flow_id = std::uint64_t;

  /// Of each link, in bytes a second; all positive.
  explicit flow_table(std::vector<double> bytes_per_second);

  /// `id` is new. It cannot end before `now`.
  void begin(flow_id id, std::uint64_t bytes, flow_path path, nanoseconds now);

  /// Ends a flow before its time. False if there is none.
  bool cancel(flow_id id, nanoseconds now);

  /// When the next flow ends, if nothing changes until then.
  std::optional<nanoseconds> next_end() const;

  /// Flows that have ended by `now`, by time, then by id. They are forgotten.
  std::vector<flow_id> take_ended(nanoseconds now);

  std::size_t size() const {
    return flows_.size();
  }

private:
  struct flow {
    double bytes_left;
    flow_path path;
    double bytes_per_ns = 0;
    nanoseconds due{};
  };
  using flow_map = std::map<flow_id, flow>; // ordered: every walk is repeatable

  flow_map::const_iterator next() const;
  void run_to(nanoseconds now);
  void share();

  std::vector<double> bytes_per_ns_; // of each link
  flow_map flows_;
  nanoseconds now_{};
};

} // namespace perigee::transport
