/// \file
/// goodput: requests whose latencies stay within limits that are named per run, as
/// vLLM's benchmark has them.
#pragma once

#include "apps/perigee/replay/outcome.hpp"
#include "schemas/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace perigee::app {

/// What is not set is not limited.
struct goodput_limits {
  std::optional<std::chrono::nanoseconds> ttft; ///< Until the first token.
  std::optional<std::chrono::nanoseconds> tpot; ///< Between tokens, on average.
  std::optional<std::chrono::nanoseconds> e2el; ///< Until the end.

  bool any() const {
    return ttft || tpot || e2el;
  }
};

/// Reads "ttft:2000,tpot:25", milliseconds. Fails with a sentence.
result<goodput_limits, std::string> read_goodput(std::string_view text);

/// Whether `one` was served, within all that is set.
bool is_good(const outcome& one, const goodput_limits& limits);

} // namespace perigee::app
