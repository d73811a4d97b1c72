/// \file
/// longest_tenth: time between tokens, as the Mooncake paper has it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace perigee::app {

/// The mean of the longest tenth of a request's gaps, rounded up to whole gaps. Exact,
/// though it keeps only what may belong to that tenth. Pure.
class longest_tenth {
public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Of at most `gaps_max` gaps: more are a bug.
  explicit longest_tenth(std::size_t gaps_max);

  /// Cost: the logarithm of what is kept, or nothing if the gap is too short.
  void add(nanoseconds gap, std::size_t times);

  /// Nothing if there is no gap.
  std::optional<nanoseconds> mean() const;

private:
  using entry = std::pair<nanoseconds, std::size_t>; // a gap, and how often

  std::size_t gaps_max_;
  std::size_t kept_max_;
  std::size_t seen_ = 0;
  std::size_t kept_ = 0;
  std::vector<entry> kept_gaps_; // a heap, the shortest in front
};

} // namespace perigee::app
