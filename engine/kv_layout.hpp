/// \file
/// How KV lies in an arena's blocks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perigee::engine {

enum class kv_type : std::uint8_t { f16, f32 };

/// The shape of one KV block: `[layer][K|V][head][token][dim]`, so that one layer of
/// one block is contiguous, and moves as one.
struct kv_layout {
  std::uint32_t layers = 0;
  std::uint32_t heads = 0; ///< KV heads, not query heads.
  std::uint32_t head_dim = 0;
  std::uint32_t block_tokens = 16;
  std::uint32_t element_bytes = 2; ///< Of one number: 2 for F16, 4 for F32.

  bool operator==(const kv_layout&) const = default;

  /// Of K alone, or of V alone, in one layer of one block.
  constexpr std::size_t half_bytes() const {
    return std::size_t{heads} * block_tokens * head_dim * element_bytes;
  }

  constexpr std::size_t layer_bytes() const {
    return 2 * half_bytes();
  }

  constexpr std::size_t block_bytes() const {
    return layers * layer_bytes();
  }

  /// From the arena's begin to `layer` of `block`.
  constexpr std::size_t offset(std::size_t block, std::size_t layer) const {
    return block * block_bytes() + layer * layer_bytes();
  }
};

} // namespace perigee::engine
