/// \file
/// sequence: a prompt and its answer, as it grows.
#pragma once

#include "actors/block_keys.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace perigee::coupled {

/// All tokens of one request, and the keys of the blocks that they fill. So the KV of
/// all but the last token can be computed again, wherever the answer is. Pure.
class sequence {
public:
  struct prompt {
    std::vector<std::uint32_t> tokens; ///< At least one.
    block_key root;                    ///< The parent of the first block's key.
    block_chain keys;                  ///< Of its full blocks.
    bool may_reuse = true;             ///< False: all of it must be computed.
  };

  /// `answer_max` is the longest answer, at least 1.
  sequence(prompt from, std::uint32_t answer_max, std::uint32_t block_tokens)
    : tokens_(std::move(from.tokens)), root_(from.root), keys_(std::move(from.keys)),
      prompt_tokens_(static_cast<std::uint32_t>(tokens_.size())),
      answer_max_(answer_max), block_tokens_(block_tokens), may_reuse_(from.may_reuse) {
  }

  void append(std::uint32_t token) {
    tokens_.push_back(token);
    if (tokens_.size() % block_tokens_ == 0)
      keys_.push_back(next_key(keys_.empty() ? root_ : keys_.back(),
                               std::span{tokens_}.last(block_tokens_)));
  }

  /// The prompt's, then the answer's.
  const std::vector<std::uint32_t>& tokens() const {
    return tokens_;
  }

  std::uint32_t size() const {
    return static_cast<std::uint32_t>(tokens_.size());
  }

  std::uint32_t prompt_tokens() const {
    return prompt_tokens_;
  }

  std::span<const std::uint32_t> answer() const {
    return std::span{tokens_}.subspan(prompt_tokens_);
  }

  /// Tokens that may still be drawn.
  std::uint32_t draws_left() const {
    auto drawn = size() - prompt_tokens_;
    return answer_max_ > drawn ? answer_max_ - drawn : 0;
  }

  /// Whether KV that others computed will do.
  bool may_reuse() const {
    return may_reuse_;
  }

  /// Of all full blocks.
  const block_chain& keys() const {
    return keys_;
  }

  /// What the key of block `block` was made from, beside its own tokens.
  const block_key& parent_of(std::size_t block) const {
    return block == 0 ? root_ : keys_[block - 1];
  }

private:
  std::vector<std::uint32_t> tokens_;
  block_key root_;
  block_chain keys_;
  std::uint32_t prompt_tokens_;
  std::uint32_t answer_max_;
  std::uint32_t block_tokens_;
  bool may_reuse_;
};

} // namespace perigee::coupled
