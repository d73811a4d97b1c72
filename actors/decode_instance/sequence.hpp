/// \file
/// sequence: one answer as it grows, and what of it is in the arena.
#pragma once

#include "actors/block_keys.hpp"

#include <cstdint>
#include <vector>

namespace perigee::decode {

/// Full blocks of a chain that continue a prompt.
struct own_blocks {
  block_key parent;        ///< Of the first of `keys`.
  std::uint32_t first = 0; ///< Where that is, in the chain and in the block table.
  block_chain keys;
};

/// A prompt of which the last, partial block's tokens are known, and what was answered
/// so far. The KV of all tokens but the last one is in the arena. Pure.
class sequence {
public:
  struct prompt {
    std::uint32_t tokens = 0;
    std::vector<std::uint32_t> tail; ///< Of its last, partial block.
    block_key parent;                ///< Of its last full block, or the root.
  };

  /// `tokens_max` is the longest answer, `first` its first token.
  sequence(prompt before, std::uint32_t first, std::uint32_t tokens_max,
           std::uint32_t block_tokens)
    : prompt_(std::move(before)), answer_{first}, tokens_max_(tokens_max),
      block_tokens_(block_tokens) {}

  void append(std::uint32_t token) {
    answer_.push_back(token);
  }

  /// What a step feeds, and where.
  std::uint32_t next_token() const {
    return answer_.back();
  }
  std::uint32_t next_position() const {
    return kv_tokens();
  }

  /// Tokens that may still be drawn.
  std::uint32_t steps_left() const {
    auto drawn = static_cast<std::uint32_t>(answer_.size());
    return tokens_max_ > drawn ? tokens_max_ - drawn : 0;
  }

  std::uint32_t kv_tokens() const {
    return prompt_.tokens + static_cast<std::uint32_t>(answer_.size()) - 1;
  }

  /// Blocks of a table that is good for `steps` further steps.
  std::uint32_t blocks_after(std::uint32_t steps) const {
    return (kv_tokens() + steps + block_tokens_ - 1) / block_tokens_;
  }

  const std::vector<std::uint32_t>& answer() const {
    return answer_;
  }

  /// The full blocks that the answer has filled.
  own_blocks full_blocks() const {
    auto tokens = prompt_.tail;
    tokens.insert(tokens.end(), answer_.begin(), answer_.end() - 1);
    return {prompt_.parent, prompt_.tokens / block_tokens_,
            keys_of(prompt_.parent, tokens, block_tokens_)};
  }

private:
  prompt prompt_;
  std::vector<std::uint32_t> answer_;
  std::uint32_t tokens_max_;
  std::uint32_t block_tokens_;
};

} // namespace perigee::decode
