/// \file
/// layer_kv: where one layer's keys and values lie in an arena.
#pragma once

#include "engine/engine.hpp"

#include <cstddef>

namespace perigee::engine::cpu {

struct layer_kv {
  arena_view arena;
  std::size_t layer = 0;

  kv_type type() const {
    return arena.layout.element_bytes == 2 ? kv_type::f16 : kv_type::f32;
  }

  /// [head_dim], and those of the block's later tokens right after it.
  std::byte* key(std::size_t block, std::size_t head, std::size_t token) const {
    const auto& at = arena.layout;
    return arena.base + at.offset(block, layer)
           + (head * at.block_tokens + token) * at.head_dim * at.element_bytes;
  }

  std::byte* value(std::size_t block, std::size_t head, std::size_t token) const {
    return key(block, head, token) + arena.layout.half_bytes();
  }
};

} // namespace perigee::engine::cpu
