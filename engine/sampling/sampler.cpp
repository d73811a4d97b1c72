#include "engine/sampling/sampler.hpp"

#include "engine/sampling/arithmetic.hpp"
#include "engine/sampling/chance.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <limits>

namespace perigee::engine {
namespace {

constexpr float none = -std::numeric_limits<float>::infinity();
constexpr std::size_t lanes = 8;
constexpr std::size_t piece = 256; // weights that are summed before others
static_assert(piece % lanes == 0, "a whole piece fills its lanes");

// Weights in (0, 1], by their highest bits: sixteen shelves to a power of two.
constexpr int shelf_bits = 19;
constexpr std::size_t shelves = (std::bit_cast<std::uint32_t>(1.0f) >> shelf_bits) + 1;

std::size_t shelf_of(float weight) {
  return std::min<std::size_t>(std::bit_cast<std::uint32_t>(weight) >> shelf_bits,
                               shelves - 1);
}

double sum_of(std::span<const float> weights) {
  double sums[lanes]{};
  std::size_t whole = weights.size() / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += weights[i + lane];
  for (std::size_t i = whole; i < weights.size(); ++i)
    sums[i - whole] += weights[i];
  double sum = 0;
  for (double one : sums)
    sum += one;
  return sum;
}

float weight_of(float logit, float highest, float inverse_temperature) {
  return exp_of((std::min(logit, FLT_MAX) - highest) * inverse_temperature);
}

float inverse(double temperature) {
  return static_cast<float>(1.0 / temperature);
}

} // namespace

sampler::sampler(sampling_params how) : how_{std::move(how)} {}

bool sampler::has_penalty() const {
  return how_.repetition_penalty != 1 || how_.frequency_penalty != 0
         || how_.presence_penalty != 0;
}

void sampler::saw_prompt(token_id token) {
  if (how_.repetition_penalty == 1)
    return;
  if (prompt_.size() <= token / 64)
    prompt_.resize(token / 64 + 1);
  prompt_[token / 64] |= std::uint64_t{1} << token % 64;
}

void sampler::saw_answer(token_id token) {
  ++answer_tokens_;
  if (has_penalty())
    ++answer_[token];
}

bool sampler::is_forbidden(token_id token) const {
  const auto& ends = how_.stop_token_ids;
  return answer_tokens_ < how_.min_tokens
         && std::find(ends.begin(), ends.end(), token) != ends.end();
}

sampled sampler::draw(std::span<const float> logits, std::uint32_t position) {
  PERIGEE_ASSERT(!logits.empty(), "a vocabulary has tokens");
  auto judged = adjusted(logits);
  auto token = how_.temperature < temperature_min
                 ? greedy(judged)
                 : by_chance(judged, chance(how_.seed, position));
  sampled result;
  if (how_.logprobs >= 0)
    result = score(logits, token, how_.logprobs);
  result.token = token;
  saw_answer(token);
  return result;
}

std::span<const float> sampler::adjusted(std::span<const float> raw) {
  bool is_short = answer_tokens_ < how_.min_tokens && !how_.stop_token_ids.empty();
  if (!is_short && how_.logit_bias.empty() && !has_penalty())
    return raw;
  logits_.assign(raw.begin(), raw.end());
  if (is_short)
    for (auto token : how_.stop_token_ids)
      if (token < logits_.size())
        logits_[token] = none;
  for (auto [token, bias] : how_.logit_bias)
    if (token < logits_.size())
      logits_[token] += static_cast<float>(bias);
  if (how_.repetition_penalty != 1)
    punish_repetition(logits_);
  if (how_.frequency_penalty != 0 || how_.presence_penalty != 0)
    punish_frequency(logits_);
  return logits_;
}

void sampler::punish_repetition(std::span<float> logits) const {
  auto by = static_cast<float>(how_.repetition_penalty);
  auto punish = [&](std::size_t token) {
    if (token < logits.size())
      logits[token] = logits[token] > 0 ? logits[token] / by : logits[token] * by;
  };
  auto is_in_prompt = [&](std::size_t token) {
    return token / 64 < prompt_.size() && (prompt_[token / 64] >> token % 64 & 1) != 0;
  };
  for (std::size_t word = 0; word < prompt_.size(); ++word)
    if (prompt_[word] != 0)
      for (std::size_t bit = 0; bit < 64; ++bit)
        if (is_in_prompt(word * 64 + bit))
          punish(word * 64 + bit);
  for (auto [token, times] : answer_)
    if (!is_in_prompt(token))
      punish(token);
}

void sampler::punish_frequency(std::span<float> logits) const {
  auto often = static_cast<float>(how_.frequency_penalty);
  auto ever = static_cast<float>(how_.presence_penalty);
  for (auto [token, times] : answer_)
    if (token < logits.size())
      logits[token] -= often * static_cast<float>(times) + ever;
}

token_id sampler::greedy(std::span<const float> logits) const {
  float most = highest(logits);
  if (most > none)
    return static_cast<token_id>(std::find(logits.begin(), logits.end(), most)
                                 - logits.begin());
  for (token_id token = 0; token < logits.size(); ++token)
    if (!is_forbidden(token))
      return token;
  return 0;
}

token_id sampler::by_chance(std::span<const float> logits, double chance) {
  float most = std::min(highest(logits), FLT_MAX);
  if (most == none)
    return greedy(logits);
  double total = 0;
  if (how_.top_k > 0 && how_.top_k < logits.size()) {
    find_likeliest(logits, how_.top_k, kept_);
    for (auto& one : kept_) {
      one.logprob = weight_of(one.logprob, most, inverse(how_.temperature));
      if (one.logprob < static_cast<float>(how_.min_p))
        one.logprob = 0;
      total += one.logprob;
    }
    cut_at_top_p(total);
  } else {
    total = weigh_all(logits, most);
    if (how_.top_p >= 1)
      return from_all(chance * total);
    keep_top_p(total);
  }
  return from_kept(chance);
}

/// Fills `weights_` with e^((logit - highest) / temperature), or 0 where that is below
/// min_p; answers their sum.
double sampler::weigh_all(std::span<const float> logits, float highest) {
  weights_.resize(logits.size());
  auto by = inverse(how_.temperature);
  auto least = static_cast<float>(how_.min_p); // the highest weighs 1
  for (std::size_t i = 0; i < logits.size(); ++i) {
    float weight = weight_of(logits[i], highest, by);
    weights_[i] = weight < least ? 0.0f : weight;
  }
  sums_.clear();
  double total = 0;
  for (std::size_t i = 0; i < weights_.size(); i += piece) {
    auto length = std::min(piece, weights_.size() - i);
    sums_.push_back(sum_of(std::span{weights_}.subspan(i, length)));
    total += sums_.back();
  }
  return total;
}

/// The token in whose weight `left` ends when the weights stand in a row.
token_id sampler::from_all(double left) const {
  std::size_t i = 0;
  while (i + 1 < sums_.size() && left >= sums_[i])
    left -= sums_[i++];
  token_id last = 0; // of any weight: rounding may leave a little of `left`
  auto begin = i * piece;
  auto end = std::min(begin + piece, weights_.size());
  for (auto token = begin; token < end; ++token) {
    if (weights_[token] == 0)
      continue;
    last = static_cast<token_id>(token);
    if (left < weights_[token])
      break;
    left -= weights_[token];
  }
  return last;
}

/// Puts the likeliest tokens into `kept_`, as many as it takes to reach top_p of
/// `total`. Sorts only those whose weights are about that of the last one.
void sampler::keep_top_p(double total) {
  // All that weigh less make up less than 1 - top_p together: none of them is needed.
  auto least = static_cast<float>((1 - how_.top_p) * total * 0.5
                                  / static_cast<double>(weights_.size()));
  std::array<double, shelves> sums{};
  kept_.clear();
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (weights_[i] > least) [[unlikely]] {
      kept_.push_back({static_cast<token_id>(i), weights_[i]});
      sums[shelf_of(weights_[i])] += static_cast<double>(weights_[i]);
    }
  auto last = shelves - 1;
  double left = how_.top_p * total;
  for (; last > 0 && left > sums[last]; --last)
    left -= sums[last];
  auto border = std::stable_partition(kept_.begin(), kept_.end(), [&](const auto& one) {
    return shelf_of(one.logprob) > last;
  });
  auto end = std::partition(border, kept_.end(), [&](const auto& one) {
    return shelf_of(one.logprob) == last;
  });
  std::sort(border, end, is_likelier);
  for (; border != end && left > 0; ++border)
    left -= static_cast<double>(border->logprob);
  kept_.erase(border, kept_.end());
}

/// Leaves as many of `kept_`, which is sorted, as it takes to reach top_p of `total`.
void sampler::cut_at_top_p(double total) {
  double left = how_.top_p * total;
  auto end = kept_.begin();
  for (; end != kept_.end() && left > 0; ++end)
    left -= static_cast<double>(end->logprob);
  kept_.erase(end, kept_.end());
}

/// Draws from `kept_` by their weights.
token_id sampler::from_kept(double chance) const {
  double left = 0;
  for (const auto& one : kept_)
    left += static_cast<double>(one.logprob);
  left *= chance;
  token_id last = kept_.front().token; // rounding may leave a little of `left`
  for (const auto& one : kept_) {
    if (one.logprob == 0)
      continue;
    last = one.token;
    if (left < static_cast<double>(one.logprob))
      break;
    left -= static_cast<double>(one.logprob);
  }
  return last;
}

} // namespace perigee::engine
