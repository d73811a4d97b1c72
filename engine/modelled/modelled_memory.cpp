#include "engine/modelled/modelled_memory.hpp"

#include "engine/sampling/chance.hpp"

#include <algorithm>
#include <cstring>

namespace perigee::engine {

modelled_slot slot_of(const arena_view& arena, std::span<const std::uint32_t> blocks,
                      std::uint32_t layer, std::uint32_t position) {
  const auto& layout = arena.layout;
  auto row_bytes = std::size_t{layout.head_dim} * layout.element_bytes;
  auto block = blocks[position / layout.block_tokens];
  auto token = position % layout.block_tokens;
  return {arena.base + layout.offset(block, layer) + token * row_bytes,
          std::size_t{2} * layout.heads, row_bytes, layout.block_tokens * row_bytes};
}

void imprint(const modelled_slot& slot, std::uint64_t content) {
  std::uint64_t counter = 0;
  for (std::size_t row = 0; row < slot.rows; ++row)
    for (std::size_t at = 0; at < slot.row_bytes; at += 8) {
      auto word = mixed(content, counter++);
      std::memcpy(slot.first + row * slot.stride + at, &word,
                  std::min<std::size_t>(8, slot.row_bytes - at));
    }
}

std::uint64_t recall(const modelled_slot& slot) {
  std::uint64_t hash = 0;
  for (std::size_t row = 0; row < slot.rows; ++row)
    for (std::size_t at = 0; at < slot.row_bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, slot.first + row * slot.stride + at,
                  std::min<std::size_t>(8, slot.row_bytes - at));
      hash = mixed(hash, word);
    }
  return hash;
}

} // namespace perigee::engine
