/// \file
/// request: one line of a trace.
#pragma once

#include "schemas/vocabulary.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace perigee::workload {

/// How many tokens an id in `block_ids` stands for: Mooncake's traces fix it.
inline constexpr std::size_t block_tokens = 512;

/// What one line of a trace may say at most.
inline constexpr std::uint64_t tokens_max = prompt_tokens_max;
inline constexpr std::chrono::hours arrival_max{24 * 366};

/// How many blocks `tokens` fill, the last one perhaps in part.
constexpr std::size_t blocks_of(std::uint64_t tokens) {
  return static_cast<std::size_t>((tokens + block_tokens - 1) / block_tokens);
}

static_assert(blocks_of(tokens_max) <= prompt_blocks_max,
              "a trace's longest prompt is one that a cluster takes");

/// What a client asks for, and when.
struct request {
  /// Since the trace's beginning.
  std::chrono::nanoseconds arrival{0};
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  /// One for each block of the input, `blocks_of(input_tokens)` in all. Equal ids are
  /// equal prefixes: an id stands for its block and for all before it.
  std::vector<std::uint64_t> block_ids;
  /// Whose turn it is, if the trace says so.
  std::optional<std::uint64_t> session;
  /// Of a session's later turn, whose client waits for the answer before it and thinks
  /// so long: it is sent then, but not before `arrival`. Only with a session.
  std::optional<std::chrono::nanoseconds> think = {};

  bool operator==(const request&) const = default;
};

} // namespace perigee::workload
