/// \file
/// Prompts for tests of a coupled instance's pure parts.
#pragma once

#include "actors/coupled_instance/sequence.hpp"

namespace perigee::test {

inline constexpr std::uint32_t block_tokens = 16;

/// A prompt of `tokens` tokens, the first `shared` of which are those of every prompt
/// of the same `kind`; its answer may have `answer_max`.
inline coupled::sequence text_of(std::uint32_t kind, std::uint32_t tokens,
                                 std::uint32_t shared = 0,
                                 std::uint32_t answer_max = 100) {
  static std::uint32_t others = 0;
  coupled::sequence::prompt from;
  for (std::uint32_t i = 0; i < tokens; ++i)
    from.tokens.push_back(i < shared ? 1000 * kind + i : 1'000'000 + ++others);
  from.keys = keys_of(from.root, from.tokens, block_tokens);
  return {std::move(from), answer_max, block_tokens};
}

} // namespace perigee::test
