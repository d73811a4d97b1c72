/// \file
/// decimal: a number with so many digits behind its point, which prints alike wherever
/// it was computed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace perigee::app {

struct decimal {
  std::int64_t scaled = 0; ///< Times 10 to the power of `digits`.
  int digits = 0;          ///< From 0 to 9.

  bool operator==(const decimal&) const = default;

  double value() const;
};

/// With all its digits.
std::string to_string(decimal number);

/// With `digits` of them, at most those that it has; halves go away from 0.
decimal rounded(decimal number, int digits);

inline decimal whole(std::uint64_t number) {
  return {static_cast<std::int64_t>(number), 0};
}

/// Exact.
inline decimal milliseconds_of(std::chrono::nanoseconds span) {
  return {span.count(), 6};
}
inline decimal seconds_of(std::chrono::nanoseconds span) {
  return {span.count(), 9};
}

/// With four digits; 0 of nothing.
decimal percent_of(std::uint64_t part, std::uint64_t all);

/// With three digits; 0 in no time.
decimal per_second(std::uint64_t count, std::chrono::nanoseconds span);

/// The nearest to `value` with `digits`.
decimal to_decimal(double value, int digits);

} // namespace perigee::app
