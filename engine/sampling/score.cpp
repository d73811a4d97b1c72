#include "engine/sampling/score.hpp"

#include "engine/sampling/arithmetic.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <cfloat>
#include <limits>

namespace perigee::engine {
namespace {

constexpr std::size_t lanes = 16;
constexpr float none = -std::numeric_limits<float>::infinity();

/// Of e^(logit - highest), in an order that only the number of logits decides.
double sum_of_weights(std::span<const float> logits, float highest) {
  double sums[lanes]{};
  std::size_t whole = logits.size() / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += exp_of(std::min(logits[i + lane], FLT_MAX) - highest);
  for (std::size_t i = whole; i < logits.size(); ++i)
    sums[i - whole] += exp_of(std::min(logits[i], FLT_MAX) - highest);
  double sum = 0;
  for (double one : sums)
    sum += one;
  return sum;
}

} // namespace

float highest(std::span<const float> logits) {
  float most[lanes];
  std::fill_n(most, lanes, none);
  std::size_t whole = logits.size() / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      most[lane] = logits[i + lane] > most[lane] ? logits[i + lane] : most[lane];
  for (std::size_t i = whole; i < logits.size(); ++i)
    most[0] = logits[i] > most[0] ? logits[i] : most[0];
  return *std::max_element(most, most + lanes);
}

void find_likeliest(std::span<const float> logits, std::size_t count,
                    std::vector<token_score>& kept) {
  kept.clear();
  if (count == 0)
    return;
  auto shrink = [&] {
    auto last = kept.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::nth_element(kept.begin(), last, kept.end(), is_likelier);
    kept.resize(count);
    return kept.back().logprob;
  };
  float least = none; // what a token must beat: of equals the first has the lowest id
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > least) [[unlikely]] {
      kept.push_back({static_cast<token_id>(i), logits[i]});
      if (kept.size() == 2 * count + 64)
        least = shrink();
    }
  if (kept.size() > count)
    shrink();
  std::sort(kept.begin(), kept.end(), is_likelier);
}

sampled score(std::span<const float> logits, token_id token, int top) {
  PERIGEE_ASSERT(token < logits.size(), "a token has a logit");
  sampled result;
  result.token = token;
  float most = std::min(highest(logits), FLT_MAX);
  if (most == none) {
    result.logprob = none;
    return result;
  }
  double whole = log_of(sum_of_weights(logits, most));
  auto logprob_of = [&](float logit) {
    double above = static_cast<double>(std::min(logit, FLT_MAX)) - most;
    return above == above ? static_cast<float>(above - whole) : none;
  };
  result.logprob = logprob_of(logits[token]);
  find_likeliest(logits, static_cast<std::size_t>(std::max(top, 0)), result.top);
  for (auto& one : result.top)
    one.logprob = logprob_of(one.logprob);
  return result;
}

} // namespace perigee::engine
