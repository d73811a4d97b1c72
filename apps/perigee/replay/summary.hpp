/// \file
/// summary: what all the outcomes of a run come to.
#pragma once

#include "apps/perigee/replay/goodput.hpp"
#include "apps/perigee/replay/replay.hpp"
#include "apps/perigee/replay/spread.hpp"

#include <map>
#include <string>

namespace perigee::app {

/// A request keeps the objectives if it is served, its first token came within `ttft`,
/// and its tbt, the mean of its longest tenth of gaps, is at most `tbt`.
struct objectives {
  std::chrono::nanoseconds ttft{};
  std::chrono::nanoseconds tbt{};
};

/// What a run is measured by.
struct yardstick {
  objectives kept;
  goodput_limits goodput;
};

struct summary {
  std::uint64_t requests = 0, served = 0, refused = 0, failed = 0;
  std::uint64_t not_sent = 0;    ///< Turns that would have followed one not served.
  std::uint64_t within = 0;      ///< The objectives.
  std::uint64_t ttft_within = 0; ///< The objective for that alone.
  std::uint64_t tbt_within = 0;
  std::uint64_t good = 0; ///< Within the limits of goodput.
  std::map<std::string, std::uint64_t>
    refused_by; ///< The code that the client is told.
  std::map<std::string, std::uint64_t> failed_by;
  std::uint64_t input_tokens = 0; ///< Of those served, as all below.
  std::uint64_t cached_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::chrono::nanoseconds lasted{}; ///< From the trace's beginning to the last end.
  spread ttft, tbt, tpot, e2el;

  /// Prompt tokens computed for requests that were not served, or more than once.
  /// `computed` is what all prefill groups computed.
  std::uint64_t wasted_tokens(std::uint64_t computed) const;
};

summary summarize(std::span<const outcome> all, const yardstick& by);

} // namespace perigee::app
