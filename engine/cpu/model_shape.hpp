/// \file
/// model_shape: what a file says of its model's form.
#pragma once

#include "engine/gguf/gguf.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace perigee::engine::cpu {

enum class architecture : std::uint8_t { llama, gemma3 };

/// How positions turn queries and keys.
struct rope_shape {
  double base = 10'000;
  double divisor = 1; ///< Of the position, where the file stretches the context.
};

/// Numbers of a model, each checked against the range that the engine can run.
struct model_shape {
  architecture kind = architecture::llama;
  std::string architecture_name;
  std::string name;

  std::size_t layers = 0;
  std::size_t width = 0; ///< Of the embeddings.
  std::size_t heads = 0;
  std::size_t kv_heads = 0;
  std::size_t head_dim = 0;
  std::size_t ffn_width = 0;
  std::size_t vocabulary = 0;
  std::size_t context_tokens_max = 0;

  float epsilon = 0;
  float embedding_scale = 1;
  float query_scale = 1;
  float logit_cap = 0; ///< 0: none.

  std::size_t rope_dimensions = 0; ///< Of each head, the first so many.
  rope_shape rope;
  rope_shape rope_windowed; ///< Of layers with a window.

  std::size_t window = 0; ///< Tokens that a windowed layer sees, itself among them.
  std::size_t window_period = 0; ///< Each so many-th layer sees everything; 0: all do.

  std::size_t query_width() const {
    return heads * head_dim;
  }

  std::size_t kv_width() const {
    return kv_heads * head_dim;
  }

  bool is_windowed(std::size_t layer) const {
    return window_period > 0 && (layer + 1) % window_period != 0;
  }
};

/// Fails with `unsupported` for an architecture, or a form of one, that isn't run here;
/// with `malformed` for a number out of its range; each time with what was expected.
gguf::found<model_shape> read_model_shape(const gguf::contents& file);

} // namespace perigee::engine::cpu
