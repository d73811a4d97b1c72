/// \file
/// modelled_cost: how long a batch takes on hardware that isn't here.
#pragma once

#include "engine/engine.hpp"

#include <chrono>
#include <span>

namespace perigee::engine {

/// Seconds of a batch, from a few coefficients.
///
/// The defaults are eight A800 that run LLaMA3-70B, fitted to figure 14 of the Mooncake
/// paper (FAST'25): within 0.4 % of its cold prefills from 8k to 128k tokens, within 15
/// % of those on a cached prefix.
struct modelled_cost {
  /// Prefill of n tokens after p: fixed + token * n + square * ((p + n)^2 - p^2), so
  /// that the chunks of a prompt cost what the whole does, but for the fixed part.
  struct prefill_terms {
    double fixed_s = 0.0447;
    double token_s = 1.105e-4;
    double square_s = 7.586e-10;
    double spread = 0; ///< From 0 to 1: see spread_factor().
  } prefill;

  /// A decode step: fixed + kv_token * (KV tokens of all sequences) + sequence * (those
  /// beyond the first).
  struct decode_terms {
    double fixed_s = 0.0263;
    double kv_token_s = 35e-9;
    double sequence_s = 1e-4;
    double spread = 0;
  } decode;

  /// Of one batch, rounded once. A slice of one token that is drawn for is a decode
  /// step, any other is prefill: a part of a prompt, with its attention to all before
  /// it.
  ///
  /// A batch of both, as coupled engines run, pays the larger fixed part once, and then
  /// for the tokens of all: its weights are read once, while what tokens and their
  /// attention take adds up. So a part of a prompt that is added to a decode step
  /// costs the difference of the fixed parts beside its own tokens. That makes prompts
  /// in chunks of 512 tokens beside decode steps 1.24 times as expensive as whole ones
  /// on the conversation trace; the paper's figure 8 has 1.22 for vLLM, which nothing
  /// here was fitted to.
  ///
  /// Times a spread_factor(), which first tokens and their positions decide: so a batch
  /// takes the same time whenever it is asked for, and its neighbours other times. A
  /// batch of both spreads as prefills do.
  std::chrono::nanoseconds of(std::span<const slice> batch) const;
};

/// What machines add to a cost that is the same on average: positive, of mean 1 and
/// standard deviation `spread`, longer on the slow side. `which` is as good as chance.
///
/// (1 + b z)^2 over its mean, z being the sum of twelve uniform numbers less 6: exact
/// sums and products, so that it is the same with every library.
double spread_factor(double spread, std::uint64_t which);

} // namespace perigee::engine
