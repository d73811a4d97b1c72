/// \file
/// is_sound: what every engine demands of a batch before it runs it.
#pragma once

#include "engine/engine.hpp"

#include <algorithm>

namespace perigee::engine {

/// Whether every slice has tokens, all within the vocabulary, the context and its block
/// table, whose blocks lie in the arena; a place for what it wants drawn; and whether
/// the batch is not too large.
inline bool is_sound(std::span<const slice> batch, const model_info& model,
                     const arena_view& arena, std::uint32_t batch_tokens_max) {
  std::size_t tokens = 0;
  for (const auto& one : batch) {
    auto end = one.first_position + one.tokens.size();
    auto blocks = (end + arena.layout.block_tokens - 1) / arena.layout.block_tokens;
    if (one.tokens.empty() || end > model.context_tokens_max
        || blocks > one.blocks.size())
      return false;
    if ((one.pick != nullptr) != (one.drawn != nullptr))
      return false;
    auto is_token = [&](token_id token) { return token < model.vocabulary; };
    auto is_block = [&](std::uint32_t block) { return block < arena.blocks; };
    if (!std::all_of(one.tokens.begin(), one.tokens.end(), is_token)
        || !std::all_of(one.blocks.begin(),
                        one.blocks.begin() + static_cast<std::ptrdiff_t>(blocks),
                        is_block))
      return false;
    tokens += one.tokens.size();
  }
  return tokens <= batch_tokens_max;
}

} // namespace perigee::engine
