/// \file
/// What became of one request of a trace, as its client would have seen it.
#pragma once

#include "actors/gateway/api_error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace perigee::app {

/// Moments count from the beginning of the trace.
struct outcome {
  enum class ending : std::uint8_t { open, served, refused, failed };

  std::chrono::nanoseconds arrived{};
  std::chrono::nanoseconds first_token{}; ///< Meaningless if no token came.
  std::chrono::nanoseconds ended{};
  std::uint32_t input_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t output_tokens = 0;
  ending how = ending::open;
  std::optional<gateway::api_code> why = {}; ///< Of those refused or failed.

  /// Between one token and the next, in their order.
  std::vector<std::chrono::nanoseconds> gaps = {};

  std::chrono::nanoseconds ttft() const {
    return first_token - arrived;
  }
};

} // namespace perigee::app
