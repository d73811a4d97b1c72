/// \file
/// What work costs on one kind of hardware, as data: for predictions, and for models.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace perigee::conductor {

using std::chrono::nanoseconds;

/// Of a prefill of `n` tokens, the first `p` of them cached:
/// `fixed + token * (n - p) + pair * (n^2 - p^2)`.
///
/// The square is that of attention: each token attends to all before it. Chunks and
/// pipeline stages are in the coefficients, for they are in what was measured.
struct prefill_cost {
  double fixed_ns = 0;
  double token_ns = 0;
  double pair_ns = 0;

  bool operator==(const prefill_cost&) const = default;

  /// Zero if nothing is left to compute.
  nanoseconds time(std::uint64_t tokens, std::uint64_t cached) const;
};

/// Of one step of a decode batch: `fixed + sequence * sequences + kv_token *
/// kv_tokens`.
struct decode_cost {
  double fixed_ns = 0;
  double sequence_ns = 0;
  double kv_token_ns = 0;

  bool operator==(const decode_cost&) const = default;

  /// Zero for a batch of none.
  nanoseconds step_time(std::uint64_t sequences, std::uint64_t kv_tokens) const;
};

/// Of moving bytes: `latency + bytes / bandwidth`.
struct transfer_cost {
  double latency_ns = 0;
  double bytes_per_s = 0; ///< 0: takes no time but the latency.

  bool operator==(const transfer_cost&) const = default;

  /// Zero for no bytes.
  nanoseconds time(std::uint64_t bytes) const;
};

/// Everything the Conductor predicts with. One for each kind of hardware.
struct cost_model {
  prefill_cost prefill;
  decode_cost decode;
  transfer_cost link; ///< Between two nodes.
  transfer_cost disk; ///< From a node's SSD to its memory.
  std::uint64_t kv_token_bytes = 0;

  bool operator==(const cost_model&) const = default;
};

/// What is wrong with `model`, by the name of the coefficient, or nothing: coefficients
/// are finite and not negative, so predictions are too, and grow with the work.
std::optional<std::string> find_fault(const cost_model& model);

/// "prefill_fixed_ns=98000000 prefill_token_ns=104100 ...", every digit of it.
std::string to_string(const cost_model& model);

} // namespace perigee::conductor
