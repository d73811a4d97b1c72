/// \file
/// layer_kv: where one layer's keys and values lie in an arena.
#pragma once

#include "engine/cpu/kernels/views.hpp"
#include "engine/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

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

  /// Of one head, as kernels take it.
  kv_view view(std::span<const std::uint32_t> blocks, std::size_t head) const {
    return {key(0, head, 0), value(0, head, 0),         arena.layout.block_bytes(),
            blocks.data(),   arena.layout.block_tokens, arena.layout.head_dim,
            type()};
  }
};

} // namespace perigee::engine::cpu
