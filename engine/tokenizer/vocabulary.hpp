/// \file
/// vocabulary: what a model file says of its tokens, as plain values.
#pragma once

#include "engine/model_info.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perigee::engine {

/// As numbered in GGUF.
enum class token_kind : std::uint8_t {
  normal = 1,
  unknown = 2,
  control = 3,      ///< Structure, such as `<|im_end|>`; no text makes it by chance.
  user_defined = 4, ///< Text that is always one token.
  unused = 5,
  byte = 6, ///< `<0x00>` to `<0xFF>`.
};

/// Everything a tokenizer is made from. Each member is named after the key of
/// `tokenizer.ggml.` that it comes from; who is absent has the default of `model`.
struct vocabulary {
  std::string model; ///< `gpt2` (byte-level BPE) or `llama` (as SentencePiece does).
  std::string pre;   ///< For `gpt2`: the rule that cuts text into words.

  std::vector<std::string> tokens;
  std::vector<float> scores; ///< For `llama`: one a token; the highest merges first.
  std::vector<token_kind> token_type; ///< One a token, or empty: all normal.
  std::vector<std::string>
    merges; ///< For `gpt2`: "left right", the first merges first.

  std::optional<token_id> bos_token_id;
  std::optional<token_id> eos_token_id;
  std::optional<token_id> eot_token_id;
  std::optional<token_id> eom_token_id;
  std::optional<token_id> unknown_token_id;
  std::optional<bool> add_bos_token;
  std::optional<bool> add_eos_token;
  std::optional<bool> add_space_prefix;
};

} // namespace perigee::engine
