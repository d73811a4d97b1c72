/// \file
/// How packed weights and prepared tokens lie in memory. Constants alone: see
/// views.hpp.
#pragma once

#include "engine/cpu/kernels/views.hpp"

namespace perigee::engine::cpu {

// Prepared tokens: bytes of one token's share of one block.
inline constexpr std::size_t int8_block_bytes = block_columns + std::size_t{5} * 4;
inline constexpr std::size_t float_block_bytes = block_columns * 4;

// Packed weights. A tile of 16 rows is up to four regions, one after the other, each of
// so many bytes a block of 32 columns (`super`: of 256). A vector of 64 bytes holds the
// columns 4g to 4g + 3 of 16 rows: row after row, 4 bytes each. It is called group g; a
// block has eight.
//
// low nibbles: 4 vectors; byte i of vector v holds groups v (low) and v + 4 (high).
// bytes: 8 vectors, one a group.
// fifth bits: 1 vector; bit g of byte i belongs to byte i of group g.
// fifth and sixth bits: 2 vectors; bits 2(g % 4) and up of byte i of vector g / 4
// belong to byte i of group g. scales: 16 F16, or 16 F16 and then 16 F16 minima; of
// K-quants 16 bytes and 16 bytes.
struct tile_layout {
  std::size_t super = 0;  // K-quants: scales of the scales
  std::size_t scales = 0; // of the blocks
  std::size_t quants = 0; // nibbles or bytes
  std::size_t high = 0;   // the bits above the nibbles
};

inline constexpr std::size_t super_columns = 256;
inline constexpr std::size_t super_blocks = super_columns / block_columns;
inline constexpr std::size_t group_bytes = 64;
inline constexpr std::size_t half_row_bytes = std::size_t{16} * 2; // 16 F16
inline constexpr std::size_t nibble_bytes = 4 * group_bytes;

constexpr tile_layout layout_of(gguf::tensor_type type) {
  using enum gguf::tensor_type;
  switch (type) {
    case q4_0: return {0, half_row_bytes, nibble_bytes, 0};
    case q4_1: return {0, 2 * half_row_bytes, nibble_bytes, 0};
    case q5_0: return {0, half_row_bytes, nibble_bytes, group_bytes};
    case q5_1: return {0, 2 * half_row_bytes, nibble_bytes, group_bytes};
    case q8_0: return {0, half_row_bytes, 8 * group_bytes, 0};
    case q4_k: return {2 * half_row_bytes, 32, nibble_bytes, 0};
    case q5_k: return {2 * half_row_bytes, 32, nibble_bytes, group_bytes};
    case q6_k: return {half_row_bytes, 32, nibble_bytes, 2 * group_bytes};
    case f16:
    case bf16: return {0, 0, block_columns * tile_rows * 2, 0};
    case f32: return {0, 0, block_columns * tile_rows * 4, 0};
  }
  return {};
}

} // namespace perigee::engine::cpu
