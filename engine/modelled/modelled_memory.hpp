/// \file
/// modelled_memory: what a checked modelled engine keeps of a token, and where.
#pragma once

#include "engine/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace perigee::engine {

/// Where one layer of one token lies: `[K|V][head][dim]`, each row at a stride of a
/// block's tokens.
struct modelled_slot {
  std::byte* first = nullptr;
  std::size_t rows = 0; ///< K and V of every head.
  std::size_t row_bytes = 0;
  std::size_t stride = 0;
};

modelled_slot slot_of(const arena_view& arena, std::span<const std::uint32_t> blocks,
                      std::uint32_t layer, std::uint32_t position);

/// Fills every byte of the slot with what `content` alone decides.
void imprint(const modelled_slot& slot, std::uint64_t content);

/// A hash of every byte of the slot.
std::uint64_t recall(const modelled_slot& slot);

} // namespace perigee::engine
