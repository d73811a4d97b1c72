/// \file
/// What the rest of the tree needs to know of a model, whatever runs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace perigee::engine {

/// A position in the vocabulary.
using token_id = std::uint32_t;

struct model_info {
  std::string name;         ///< For `/v1/models`: from the file, or the file's name.
  std::string architecture; ///< As in the file, such as "llama".
  std::uint32_t layers = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t vocabulary = 0;         ///< Token ids are below this.
  std::uint32_t context_tokens_max = 0; ///< Prompt and answer together.

  /// SHA-256 of what decides the numbers: weights and numeric profile. Two engines with
  /// the same digest give the same bits.
  std::array<std::byte, 32> digest{};
};

} // namespace perigee::engine
