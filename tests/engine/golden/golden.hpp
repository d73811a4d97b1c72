/// \file
/// What llama.cpp computed: log-probabilities and greedy continuations. README.md says
/// how the files were made.
#pragma once

#include "engine/model_info.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace perigee::engine::golden {

struct scored_token {
  token_id token = 0;
  float logprob
    = 0; ///< Natural logarithm of its probability among the whole vocabulary.
};

/// The likeliest tokens to follow, likeliest first.
using scored_tokens = std::vector<scored_token>;

struct prompt {
  std::string name; ///< Such as "code".
  std::vector<token_id> tokens;

  /// likeliest[i] follows tokens[0..i]: one entry a position. 64 tokens, or the whole
  /// vocabulary of a tiny model.
  std::vector<scored_tokens> likeliest;

  /// What llama.cpp went on with, taking the likeliest token each time, end tokens too.
  std::vector<token_id> greedy;

  /// greedy_likeliest[i]: the eight likeliest where greedy[i], the first of them, was
  /// taken. Tells a near tie from a mistake where another engine takes another token.
  std::vector<scored_tokens> greedy_likeliest;
};

struct model {
  std::string name;
  std::vector<prompt> prompts;
};

/// What llama.cpp made of a model file.
///
/// | path                | model file                                  |
/// |---------------------|---------------------------------------------|
/// | smollm2.golden      | models/SmolLM2-135M-Instruct.Q4_1.gguf      |
/// | gemma3.golden       | models/gemma-3-270m-Q4_K_M.gguf             |
/// | tiny/NAME.golden    | tests/engine/golden/tiny/NAME.gguf          |
///
/// `path` is relative to tests/engine/golden. Throws std::runtime_error, with what is
/// wrong, if it can't be read.
model read_model(const std::string& path);

/// Blocks of one weight type, and what they mean by PyPI's gguf.
struct blocks {
  std::string type; ///< "Q4_K", as gguf names it.
  std::vector<std::uint8_t> bytes;
  std::vector<float> values;
};

/// Of every weight type, from blocks.golden. Throws as above.
std::vector<blocks> read_blocks();

} // namespace perigee::engine::golden
