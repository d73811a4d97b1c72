/// \file
/// tbt_model: how long a decode step will take, by those that were taken.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace perigee::decode {

/// What a step's duration depends on.
struct step_load {
  std::size_t sequences = 0;
  std::size_t kv_tokens = 0; ///< Of all of them.
};

/// A fixed part, one for each sequence, and one for each token of KV: fitted to the
/// steps observed, of which later ones count more. No part is negative. Pure.
///
/// What it says changes only when it is told to learn: an owner who hears of steps one
/// by one and one who hears of them in long runs can so be told the same.
///
/// Steps that are all alike don't say which part is which: then their duration is
/// predicted for smaller loads as well, and in proportion to sequences for larger ones
/// at most.
class tbt_model {
public:
  void observe(const step_load& load, std::chrono::nanoseconds duration);

  /// From here on it predicts by all that was observed. The very first step is learnt
  /// at once.
  void learn();

  /// Nothing was observed: 0.
  std::chrono::nanoseconds predict(const step_load& load) const;

  /// A step's duration before it last learnt.
  std::chrono::nanoseconds recent() const {
    return std::chrono::nanoseconds{static_cast<long long>(learnt_ns_)};
  }

private:
  void fit();

  // Sums of products of (1, sequences, kv tokens, duration), all decayed.
  std::array<std::array<double, 4>, 3> sums_{};
  std::array<double, 3> parts_{}; // nanoseconds
  double recent_ns_ = 0;
  double learnt_ns_ = 0;
  bool observed_ = false;
};

} // namespace perigee::decode
