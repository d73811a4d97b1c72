#include "engine/modelled/modelled_model.hpp"

#include "engine/modelled/modelled_memory.hpp"
#include "engine/sampling/chance.hpp"

namespace perigee::engine {
namespace {

constexpr float likeliest_logit = 8;

/// What every layer sums up of a sequence, token after token.
class course {
public:
  explicit course(const modelled_options& model)
    : model_{model}, sums_(model.layout.layers), one_token_{one_token(model.layout)},
      memory_(one_token_.block_bytes()) {}

  /// What the topmost layer makes of `token` after all before.
  std::uint64_t feed(token_id token) {
    auto hidden = modelled_embedding(model_.seed, token);
    if (!model_.checked)
      return hidden;
    const std::uint32_t blocks[]{0};
    for (std::uint32_t layer = 0; layer < model_.layout.layers; ++layer) {
      auto& sum = sums_[layer];
      auto slot = slot_of({memory_.data(), 1, one_token_}, blocks, layer, 0);
      imprint(slot, modelled_content(model_.seed, layer, token, sum, hidden));
      sum += modelled_share(recall(slot), position_);
      hidden = sum;
    }
    ++position_;
    return hidden;
  }

private:
  static kv_layout one_token(kv_layout layout) {
    layout.block_tokens = 1;
    return layout;
  }

  const modelled_options& model_;
  std::vector<std::uint64_t> sums_;
  kv_layout one_token_;
  std::vector<std::byte> memory_;
  std::uint32_t position_ = 0;
};

} // namespace

std::uint64_t modelled_content(std::uint64_t seed, std::uint32_t layer, token_id token,
                               std::uint64_t before, std::uint64_t hidden) {
  return mixed(mixed(mixed(mixed(seed, layer), token), before), hidden);
}

std::uint64_t modelled_share(std::uint64_t fingerprint, std::uint32_t position) {
  return mixed(fingerprint, position);
}

std::uint64_t modelled_embedding(std::uint64_t seed, token_id token) {
  return mixed(seed, token);
}

token_id modelled_likeliest(std::uint64_t hidden, std::uint32_t position,
                            std::uint32_t vocabulary) {
  auto token = static_cast<token_id>(mixed(hidden, position) % vocabulary);
  return token == modelled_end ? (token + 1) % vocabulary : token;
}

sampled modelled_draw(std::uint64_t hidden, std::uint32_t position,
                      std::uint32_t vocabulary, sampler& pick) {
  const auto& how = pick.params();
  auto wanted = how.modelled_output_tokens;
  bool ends = wanted > 0 && pick.answer_tokens() + 1 >= wanted;
  if (how.temperature >= temperature_min)
    hidden = mixed(hidden, how.seed);
  auto token = ends && !pick.is_forbidden(modelled_end)
                 ? modelled_end
                 : modelled_likeliest(hidden, position, vocabulary);
  for (std::uint32_t tries = 0; tries < vocabulary && pick.is_forbidden(token); ++tries)
    token = modelled_likeliest(hidden, position + tries + 1, vocabulary);
  sampled result;
  if (how.logprobs >= 0)
    result = score(modelled_logits(token, vocabulary), token, how.logprobs);
  result.token = token;
  pick.saw_answer(token);
  return result;
}

std::vector<float> modelled_logits(token_id token, std::uint32_t vocabulary) {
  std::vector<float> logits(vocabulary);
  logits[token] = likeliest_logit;
  return logits;
}

std::vector<token_id> expected_tokens(const modelled_options& model,
                                      std::span<const token_id> prompt,
                                      const sampling_params& how, std::size_t count) {
  course one{model};
  sampler pick{how};
  std::uint64_t hidden = 0;
  for (auto token : prompt)
    hidden = one.feed(token);
  std::vector<token_id> tokens;
  auto position = static_cast<std::uint32_t>(prompt.size());
  while (tokens.size() < count) {
    tokens.push_back(modelled_draw(hidden, position, model.vocabulary, pick).token);
    if (tokens.back() == modelled_end)
      break;
    ++position;
    hidden = one.feed(tokens.back());
  }
  return tokens;
}

} // namespace perigee::engine
