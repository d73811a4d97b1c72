#include "engine/sampling/sampling_params.hpp"

namespace perigee::engine {
namespace {

bool is_within(double value, double lowest, double highest) {
  return value >= lowest && value <= highest; // false for NaN
}

struct range {
  const char* parameter;
  double value;
  double lowest;
  double highest;
  const char* expected;
};

std::optional<param_fault> find_range_fault(const sampling_params& how) {
  const range ranges[]{
    {"temperature", how.temperature, 0, 100, "a number from 0 to 100"},
    {"top_p", how.top_p, 1e-9, 1, "a number above 0, up to 1"},
    {"min_p", how.min_p, 0, 1, "a number from 0 to 1"},
    {"repetition_penalty", how.repetition_penalty, 0.01, 100,
     "a number from 0.01 to 100"},
    {"frequency_penalty", how.frequency_penalty, -2, 2, "a number from -2 to 2"},
    {"presence_penalty", how.presence_penalty, -2, 2, "a number from -2 to 2"},
    {"logprobs", static_cast<double>(how.logprobs), -1, logprobs_max,
     "at most 20 tokens"},
  };
  static_assert(logprobs_max == 20, "as the text says");
  for (const auto& one : ranges)
    if (!is_within(one.value, one.lowest, one.highest))
      return param_fault{one.parameter, one.expected};
  return {};
}

std::string below(std::uint32_t vocabulary) {
  return "token ids below " + std::to_string(vocabulary);
}

std::optional<param_fault> find_bias_fault(const sampling_params& how,
                                           std::uint32_t vocabulary) {
  if (how.logit_bias.size() > logit_bias_max)
    return param_fault{"logit_bias",
                       "at most " + std::to_string(logit_bias_max) + " tokens"};
  for (auto [token, bias] : how.logit_bias) {
    if (token >= vocabulary)
      return param_fault{"logit_bias", below(vocabulary)};
    if (!is_within(bias, -100, 100))
      return param_fault{"logit_bias", "numbers from -100 to 100"};
  }
  return {};
}

} // namespace

std::optional<param_fault> find_param_fault(const sampling_params& how,
                                            std::uint32_t vocabulary) {
  if (auto fault = find_range_fault(how))
    return fault;
  if (auto fault = find_bias_fault(how, vocabulary))
    return fault;
  if (how.stop_token_ids.size() > stop_token_ids_max)
    return param_fault{"stop_token_ids",
                       "at most " + std::to_string(stop_token_ids_max) + " tokens"};
  for (auto token : how.stop_token_ids)
    if (token >= vocabulary)
      return param_fault{"stop_token_ids", below(vocabulary)};
  return {};
}

} // namespace perigee::engine
