/// \file
/// likeness: what published traces are like, in numbers.
#pragma once

#include "workload/quantile_curve.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace perigee::workload {

/// A beginning that many prompts have in common, such as a system prompt.
struct shared_start {
  std::uint64_t tokens;
  double probability; ///< Of prompts that are long enough and have no earlier one.
};

/// What follows an earlier prompt.
struct following {
  /// By input length, how likely it is that a prompt follows an earlier one.
  std::vector<quantile> probability;
  /// Of prompts that follow none, how many may be followed; those that follow may all.
  double followed_share;
  /// How much of it is the earlier prompt's, where there is one that long.
  quantile_curve kept;
  std::chrono::seconds gap_median; ///< From prompt to prompt.
  double gap_sigma;                ///< Of the gap's logarithm.
  /// How many may follow one and the same prompt: 1 in a conversation, more where
  /// several questions are asked about one text.
  std::size_t followers_max;
};

/// A kind of traffic.
struct likeness {
  std::string_view name;
  std::string_view what;          ///< In a sentence, and of which trace.
  double rate;                    ///< Requests per second.
  std::chrono::milliseconds tick; ///< Arrivals are rounded down to it; 0: they aren't.
  quantile_curve input;
  quantile_curve output;
  std::vector<shared_start> starts;
  following follows;
};

const std::vector<likeness>& likenesses();

/// Or null.
const likeness* find_likeness(std::string_view name);

} // namespace perigee::workload
