/// \file
/// sampler: draws a sequence's next token from logits.
#pragma once

#include "engine/model_info.hpp"
#include "engine/sampling/sampling_params.hpp"
#include "engine/sampling/score.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace perigee::engine {

/// One sequence's sampling. Pure: a draw depends on the parameters, the tokens told to
/// it so far, the logits and the position. Not thread-safe.
///
/// What is done to the logits, in this order, which is vLLM's: ends are forbidden while
/// `min_tokens` is not reached; `logit_bias`; repetition, frequency and presence
/// penalties; greedy choice, or else temperature, `min_p`, `top_k`, `top_p`, chance.
class sampler {
public:
  explicit sampler(sampling_params how);

  /// A token of the prompt, for the repetition penalty. Any order.
  void saw_prompt(token_id token);

  /// A token of the answer; draw() tells its own.
  void saw_answer(token_id token);

  /// The token at `position`, given the logits [vocabulary] of the one before.
  ///
  /// Greedy ties go to the lowest id. The random number is drawn from (seed, position)
  /// alone. Logits may be infinite or NaN, which counts as the lowest; where there is
  /// nothing to choose, the lowest token that is allowed comes back. Cost: a few walks
  /// over the vocabulary; a sort only of what top_k and top_p can reach.
  sampled draw(std::span<const float> logits, std::uint32_t position);

  /// Whether `min_tokens` keeps `token` from being drawn now.
  bool is_forbidden(token_id token) const;

  const sampling_params& params() const {
    return how_;
  }

  std::uint32_t answer_tokens() const {
    return answer_tokens_;
  }

private:
  bool has_penalty() const;
  std::span<const float> adjusted(std::span<const float> raw);
  void punish_repetition(std::span<float> logits) const;
  void punish_frequency(std::span<float> logits) const;
  token_id greedy(std::span<const float> logits) const;
  token_id by_chance(std::span<const float> logits, double chance);
  token_id from_all(double left) const;
  token_id from_kept(double chance) const;
  void keep_top_p(double total);
  void cut_at_top_p(double total);
  double weigh_all(std::span<const float> logits, float highest);

  sampling_params how_;
  std::map<token_id, std::uint32_t> answer_; // how often each was drawn
  std::vector<std::uint64_t> prompt_;        // bits of the tokens in it
  std::uint32_t answer_tokens_ = 0;

  // Of the draw that is going on; kept for their memory.
  std::vector<float> logits_;
  std::vector<float> weights_;
  std::vector<double> sums_;      // of the weights, by piece
  std::vector<token_score> kept_; // with weights in place of log-probabilities
};

} // namespace perigee::engine
