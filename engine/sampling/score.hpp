/// \file
/// What logits say of tokens: the likeliest, and their log-probabilities.
#pragma once

#include "engine/model_info.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace perigee::engine {

struct token_score {
  token_id token = 0;
  float logprob = 0;
};

struct sampled {
  token_id token = 0;
  float logprob = 0;            ///< Of `token`, natural logarithm, by the raw logits.
  std::vector<token_score> top; ///< The likeliest, best first; as many as were wanted.
};

/// `token`'s log-probability in softmax(logits), and the `top` likeliest tokens, best
/// first, ties to the lowest id. Tokens that are infinitely unlikely are left out.
sampled score(std::span<const float> logits, token_id token, int top);

/// The highest of `logits`; minus infinity if there is none. NaN is none.
float highest(std::span<const float> logits);

/// Puts the `count` tokens of highest logits into `kept`, best first, ties to the
/// lowest id, with their logits for log-probabilities; fewer if there are no more above
/// minus infinity. Cost: one walk over the logits, and a sort of what is kept.
void find_likeliest(std::span<const float> logits, std::size_t count,
                    std::vector<token_score>& kept);

/// Whether `a` stands before `b`.
inline bool is_likelier(const token_score& a, const token_score& b) {
  return a.logprob > b.logprob || (a.logprob == b.logprob && a.token < b.token);
}

} // namespace perigee::engine
