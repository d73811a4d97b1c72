/// \file
/// Measures an engine, and fits the cost model to it.
#pragma once

#include "actors/conductor/cost_model.hpp"
#include "schemas/result.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace perigee::conductor {

/// A prefill up to `tokens`, the first `cached` of which are in the arena already. In
/// as many chunks as the prefill group would make of it.
struct prefill_point {
  std::uint32_t tokens = 0;
  std::uint32_t cached = 0;

  bool operator==(const prefill_point&) const = default;
};

/// One decode step of `sequences`, with `kv_tokens` in the arena in all.
struct decode_point {
  std::uint32_t sequences = 0;
  std::uint64_t kv_tokens = 0;

  bool operator==(const decode_point&) const = default;
};

template <class Point>
struct measured {
  Point what;
  nanoseconds took{};
};

/// What an engine can hold.
struct engine_limits {
  std::uint32_t prefill_tokens_max = 0; ///< Of one prompt; at least 16.
  std::uint32_t sequences_max = 1;
  std::uint64_t kv_tokens_max = 0; ///< Of a decode batch; at least 16 a sequence.
};

/// What to measure, the most telling first.
struct calibration_plan {
  std::vector<prefill_point> prefills;
  std::vector<decode_point> steps;
  unsigned repeats = 1; ///< Of each; their median counts.

  /// When so much has been measured, the first few of each kind are enough.
  nanoseconds budget{};
};

/// A second or two on a small model: for a start without a cost model.
calibration_plan quick_calibration(const engine_limits& limits);

/// A minute or so: lengths up to the longest, with no, half and nearly all of a prompt
/// cached; batches up to the largest.
calibration_plan thorough_calibration(const engine_limits& limits);

/// How an engine is measured. A call runs it once and says what that took, or why it
/// could not.
struct measured_engine {
  std::function<result<nanoseconds, std::string>(const prefill_point&)> prefill;
  std::function<result<nanoseconds, std::string>(const decode_point&)> step;
};

/// A measurement, and what the fitted model makes of it.
struct residual {
  std::string what; ///< Such as "prefill of 512 behind 448".
  nanoseconds took{};
  nanoseconds fitted{};

  /// Relative to the measurement; negative if the model thinks it faster.
  double error() const {
    return static_cast<double>((fitted - took).count())
           / static_cast<double>(took.count());
  }
};

struct calibration {
  prefill_cost prefill;
  decode_cost decode;
  std::vector<residual> residuals; ///< In the order of measurement.

  double error_max() const; ///< The largest, without its sign.
};

/// Fits a model to what was measured, here or elsewhere. Fails, saying what is missing,
/// if there are too few measurements or one that took no time.
result<calibration, std::string> fit(std::span<const measured<prefill_point>> prefills,
                                     std::span<const measured<decode_point>> steps);

/// Measures by `plan`, after a first run of the first point that doesn't count, and
/// fits. `tell`, if set, is called with each measurement as it is done.
result<calibration, std::string>
calibrate(const measured_engine& engine, const calibration_plan& plan,
          const std::function<void(const std::string& what, nanoseconds took)>& tell
          = {});

} // namespace perigee::conductor
