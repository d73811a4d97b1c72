/// \file
/// sampling_params: how a sequence's tokens are to be drawn.
#pragma once

#include "engine/model_info.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace perigee::engine {

inline constexpr int logprobs_max = 20;
inline constexpr std::size_t logit_bias_max = 1024;
inline constexpr std::size_t stop_token_ids_max = 1024;

/// A temperature below it is greedy: dividing by it would leave one token anyway.
inline constexpr double temperature_min = 1e-5;

/// How a sequence's tokens are drawn, in the words of the OpenAI API and vLLM.
struct sampling_params {
  double temperature = 1.0; ///< 0: greedy.
  std::uint32_t top_k = 0;  ///< 0: all.
  double top_p = 1.0;
  double min_p = 0.0;
  double repetition_penalty = 1.0; ///< Over prompt and answer.
  double frequency_penalty = 0.0;  ///< Over the answer.
  double presence_penalty = 0.0;   ///< Over the answer.
  std::uint64_t seed = 0;
  std::vector<std::pair<token_id, double>> logit_bias;

  /// Likeliest tokens to report with each one drawn; -1: not even its own probability.
  int logprobs = -1;

  /// Ends of a sequence: as long as fewer than `min_tokens` were drawn, none of these
  /// is.
  std::vector<token_id> stop_token_ids;
  std::uint32_t min_tokens = 0;

  /// For modelled engines alone: how many tokens the modelled model will answer with,
  /// its end among them. 0: it never ends. Nobody else may read it.
  std::uint32_t modelled_output_tokens = 0;
};

struct param_fault {
  std::string parameter; ///< As the member is called.
  std::string expected;  ///< Such as "a number from 0 to 1".
};

/// The first parameter that is out of its range, or nothing; NaN is out of every range.
std::optional<param_fault> find_param_fault(const sampling_params& how,
                                            std::uint32_t vocabulary);

} // namespace perigee::engine
