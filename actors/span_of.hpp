/// \file
/// Spans of time that came in messages.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace perigee {

/// A span that came as a number: at most a day, so that it may be added to any moment.
constexpr std::chrono::nanoseconds span_of(std::uint64_t ns) {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours{24};
  return std::chrono::nanoseconds{static_cast<std::int64_t>(
    std::min(ns, static_cast<std::uint64_t>(longest.count())))};
}

} // namespace perigee
