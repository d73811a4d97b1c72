/// \file
/// summary: what all the outcomes of a run come to.
#pragma once

#include "apps/perigee/replay/outcome.hpp"

#include <map>
#include <span>
#include <string>

namespace perigee::app {

/// Of a set of spans; all 0 of an empty one. A percentile is the smallest span that is
/// not exceeded by so many per cent of them.
struct spread {
  std::size_t count = 0;
  std::chrono::nanoseconds mean{}, p50{}, p90{}, p99{};
};

spread spread_of(std::vector<std::chrono::nanoseconds> spans);

/// The mean of the longest tenth of a request's gaps, rounded up to whole gaps: time
/// between tokens as the Mooncake paper has it. Nothing if there is no gap.
std::optional<std::chrono::nanoseconds>
tbt_of(std::vector<std::chrono::nanoseconds> gaps);

/// A request keeps the objectives if it is served, its first token came within `ttft`,
/// and its tbt_of() is at most `tbt`.
struct objectives {
  std::chrono::nanoseconds ttft{};
  std::chrono::nanoseconds tbt{};
};

struct summary {
  std::size_t requests = 0, served = 0, failed = 0, within = 0;
  std::map<std::string, std::size_t> refused; ///< By the code that the client is told.
  std::uint64_t input_tokens = 0;             ///< Of those served, as all below.
  std::uint64_t cached_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::chrono::nanoseconds lasted{}; ///< From the trace's beginning to the last end.
  spread ttft, tbt, gap;
};

summary summarize(std::span<const outcome> all, const objectives& kept);

/// As a table for a terminal, with a line break at its end.
std::string to_table(const summary& of, const objectives& kept);

/// As one JSON object, with a line break at its end; times in milliseconds.
std::string to_json(const summary& of, const objectives& kept);

} // namespace perigee::app
