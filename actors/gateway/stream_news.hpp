/// \file
/// stream_news: what the gateway's actor tells those whose requests it serves.
#pragma once

#include "actors/gateway/api_error.hpp"
#include "actors/gateway/timings.hpp"
#include "engine/sampling/score.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace perigee::gateway {

enum class stream_end : std::uint8_t {
  not_yet,
  stop,   ///< By a stop token, which is not among the tokens.
  length, ///< It has as many tokens as were wanted.
  failed, ///< See `why`.
};

/// The next tokens of a stream, or its end, or both.
struct stream_news {
  std::uint64_t stream = 0;
  std::chrono::nanoseconds taken_at{}; ///< When the actor took it, by its own clock.
  std::vector<engine::sampled> tokens = {};

  /// How long each of `tokens` had been drawn by then. Empty: they are brand-new.
  std::vector<std::chrono::nanoseconds> ages = {};

  stream_end end = stream_end::not_yet;
  std::optional<api_error> why = {};
  std::uint32_t cached_tokens = 0; ///< Of the prompt; with the first tokens on.

  /// With the first tokens and with the end: all but flush and transit.
  std::optional<timings> stages = {};

  /// By the clock of `taken_at`.
  std::chrono::nanoseconds drawn_at(std::size_t token) const {
    return token < ages.size() ? taken_at - ages[token] : taken_at;
  }
};

/// Of a prompt's own tokens, from position `first_token` on. Comes before any token.
struct prompt_scores {
  std::uint64_t stream = 0;
  std::uint32_t first_token = 0;
  std::vector<engine::sampled> scores = {};
};

} // namespace perigee::gateway
