/// \file
/// Keys of KV blocks: equal keys mean equal bytes.
#pragma once

#include "schemas/vocabulary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace perigee {

/// What could make the bytes of two blocks of equal tokens differ.
struct key_root {
  std::array<std::byte, 32> model_digest{}; ///< Weights and numeric profile.
  std::uint32_t kv_element_bytes = 2;
  std::uint32_t block_tokens = 16;
  std::uint32_t layers = 0;
  std::uint32_t heads = 0;
  std::uint32_t head_dim = 0;
  std::string_view salt; ///< Of the tenant (`cache_salt`): tenants share nothing.
};

/// The parent of every first block's key. SHA-256 over the fields, in order, each with
/// its length; the first 128 bits of it.
block_key root_key(const key_root& of);

/// The key of a block of `tokens` after `parent`: SHA-256 over parent (high, then low)
/// and token ids, all little-endian; the first 128 bits, read as two little-endian
/// words. (Mooncake, FAST'25, section 3; token ids as u32.)
block_key next_key(const block_key& parent, std::span<const std::uint32_t> tokens);

/// Keys of the full blocks of `tokens`, after `parent`. The last, partial block has
/// none.
block_chain keys_of(const block_key& parent, std::span<const std::uint32_t> tokens,
                    std::uint32_t block_tokens);

} // namespace perigee
