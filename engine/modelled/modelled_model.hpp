/// \file
/// modelled_model: the model that modelled engines run, as a pure function.
#pragma once

#include "engine/engine.hpp"
#include "engine/modelled/modelled_cost.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace perigee::engine {

/// The token that ends a modelled answer.
inline constexpr token_id modelled_end = 2;

struct modelled_options {
  std::string name = "modelled";
  std::uint32_t vocabulary = 32'000;
  std::uint32_t context_tokens_max = 1u << 20;
  kv_layout layout{2, 1, 1, 16, 4};
  std::uint32_t arena_blocks = 1024;
  std::uint32_t batch_tokens_max = 8192;

  /// The engine has a real arena, keeps a fingerprint of every token and layer in it,
  /// and draws from what it reads there. Otherwise it moves no bytes.
  bool checked = false;

  std::uint64_t seed = 0; ///< As other weights: other tokens.
  modelled_cost cost;
};

/// What a layer of a checked model is to keep of `token`. `before` is the sum of what
/// it keeps of all earlier ones, `hidden` what the layer below made of this token.
std::uint64_t modelled_content(std::uint64_t seed, std::uint32_t layer, token_id token,
                               std::uint64_t before, std::uint64_t hidden);

/// What `fingerprint`, read from the memory of `position`, adds to the sum of its
/// layer.
std::uint64_t modelled_share(std::uint64_t fingerprint, std::uint32_t position);

/// What goes into the lowest layer; all that a model that isn't checked knows of a
/// token.
std::uint64_t modelled_embedding(std::uint64_t seed, token_id token);

/// The likeliest token at `position` after what the topmost layer made of the one
/// before; never the end.
token_id modelled_likeliest(std::uint64_t hidden, std::uint32_t position,
                            std::uint32_t vocabulary);

/// Draws for `pick`, and tells it.
///
/// Greedy draws take the likeliest token, others mix in chance from (seed, position);
/// penalties, biases, top_k and the like change nothing. When `modelled_output_tokens`
/// is not 0, that many tokens are answered and the last is the end; later if
/// `min_tokens` forbids it. Nothing else draws the end.
sampled modelled_draw(std::uint64_t hidden, std::uint32_t position,
                      std::uint32_t vocabulary, sampler& pick);

/// A row of logits whose likeliest token is `token`; all others are alike.
std::vector<float> modelled_logits(token_id token, std::uint32_t vocabulary);

/// The tokens an engine of these options must answer `prompt` with: `count` of them, or
/// fewer if the end is among them. Knows no arena, block or batch.
std::vector<token_id> expected_tokens(const modelled_options& model,
                                      std::span<const token_id> prompt,
                                      const sampling_params& how, std::size_t count);

} // namespace perigee::engine
