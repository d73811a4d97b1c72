/// \file
/// cut: a part of a trace, at another speed.
#pragma once

#include "workload/request_source.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace perigee::workload {

inline constexpr double speed_min = 0.01;
inline constexpr double speed_max = 1000.0;

static_assert(std::chrono::duration<double, std::nano>{arrival_max}.count() / speed_min
                < 0x1p62,
              "moments can be slowed down, and a think be added");

/// Which part of a trace is wanted.
struct cut {
  std::optional<std::size_t> first{};           ///< So many of what is left, at most.
  std::chrono::nanoseconds from{0};             ///< In the trace's own time.
  std::optional<std::chrono::nanoseconds> to{}; ///< Without what arrives then.
  /// 2 makes it arrive in half the time, and clients think half as long.
  double speed = 1.0;
};

/// What `how` leaves of `all`. Time begins at `from`.
class cut_source : public request_source {
public:
  /// `all` belongs to the caller and outlives this; `speed` lies within its limits.
  /// `file` is what a complaint calls it: one without a request in that part.
  cut_source(request_source& all, cut how, std::string file = "the requests");

  next_request next() override;

private:
  /// Of the part; a complaint if nothing was in it.
  next_request end();
  std::chrono::nanoseconds sped_up(std::chrono::nanoseconds span) const;

  request_source& all_;
  cut how_;
  std::string file_;
  std::chrono::nanoseconds latest_{0}; ///< Of what came before the part.
  std::size_t given_ = 0;
  bool is_over_ = false;
};

} // namespace perigee::workload
