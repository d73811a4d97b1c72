/// \file
/// cut: a part of a trace, at another speed.
#pragma once

#include "workload/request_source.hpp"

#include <chrono>
#include <cstddef>
#include <optional>

namespace perigee::workload {

inline constexpr double speed_min = 0.001;
inline constexpr double speed_max = 1000.0;

/// Which part of a trace is wanted.
struct cut {
  std::optional<std::size_t> first{};           ///< So many of what is left, at most.
  std::chrono::nanoseconds from{0};             ///< In the trace's own time.
  std::optional<std::chrono::nanoseconds> to{}; ///< Without what arrives then.
  double speed = 1.0;                           ///< 2 makes it arrive in half the time.
};

/// What `how` leaves of `all`. Time begins at `from`.
class cut_source : public request_source {
public:
  /// `all` belongs to the caller and outlives this; `speed` lies within its limits.
  cut_source(request_source& all, cut how);

  next_request next() override;

private:
  request_source& all_;
  cut how_;
  std::size_t given_ = 0;
};

} // namespace perigee::workload
