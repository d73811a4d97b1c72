/// \file
/// What became of one request of a trace, as its client would have seen it.
#pragma once

#include "actors/gateway/api_error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace perigee::app {

/// Moments count from the beginning of the trace.
struct outcome {
  enum class ending : std::uint8_t {
    open,
    served,
    refused,
    failed,
    not_sent, ///< A turn whose session's turn before it was not served.
  };

  std::chrono::nanoseconds arrived{};
  std::chrono::nanoseconds first_token{}; ///< Meaningless if no token came.
  std::chrono::nanoseconds ended{};
  std::uint32_t input_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t output_tokens = 0;
  ending how = ending::open;
  std::optional<gateway::api_code> why = {}; ///< Of those refused or failed.

  /// The longest_tenth of what lay between its tokens. Nothing if it had one or none.
  std::optional<std::chrono::nanoseconds> tbt = {};

  std::chrono::nanoseconds ttft() const {
    return first_token - arrived;
  }

  /// From its arrival to its end.
  std::chrono::nanoseconds e2el() const {
    return ended - arrived;
  }

  /// Between its tokens on average; 0 if it had one.
  std::chrono::nanoseconds tpot() const {
    return output_tokens < 2 ? std::chrono::nanoseconds{}
                             : (ended - first_token) / (output_tokens - 1);
  }
};

} // namespace perigee::app
