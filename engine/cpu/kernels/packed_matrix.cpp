#include "engine/cpu/kernels/packed_matrix.hpp"

#include "engine/cpu/kernels/layout.hpp"
#include "engine/cpu/kernels/source_block.hpp"
#include "schemas/assert.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace perigee::engine::cpu {
namespace {

constexpr std::size_t group_columns = 4;
constexpr std::size_t groups = block_columns / group_columns;

std::size_t blocks_of(std::size_t columns) {
  return (columns + block_columns - 1) / block_columns;
}

std::size_t bytes_of_tile(gguf::tensor_type type, std::size_t columns) {
  auto layout = layout_of(type);
  auto blocks = blocks_of(columns);
  auto bytes = blocks / super_blocks * layout.super
               + blocks * (layout.scales + layout.quants + layout.high);
  return (bytes + group_bytes - 1) / group_bytes * group_bytes;
}

// Where a block's parts begin.
struct block_place {
  std::byte* super;
  std::byte* scales;
  std::byte* quants;
  std::byte* high;

  block_place(gguf::tensor_type type, std::byte* tile, std::size_t blocks,
              std::size_t block) {
    auto layout = layout_of(type);
    quants = tile + block * layout.quants;
    high = tile + blocks * layout.quants + block * layout.high;
    scales = tile + blocks * (layout.quants + layout.high) + block * layout.scales;
    super = tile + blocks * (layout.quants + layout.high + layout.scales)
            + block / super_blocks * layout.super;
  }
};

void put_half(std::byte* to, std::size_t row, std::uint16_t half) {
  std::memcpy(to + row * sizeof(half), &half, sizeof(half));
}

// A row's four bytes in the vector of a group.
using group_word = std::uint32_t;
static_assert(sizeof(group_word) == group_columns, "a byte a column");

void put_word(std::byte* vectors, std::size_t vector, std::size_t row,
              group_word word) {
  std::memcpy(vectors + vector * group_bytes + row * sizeof(word), &word, sizeof(word));
}

void put_quants(gguf::tensor_type type, const source_block& from, std::size_t row,
                const block_place& to) {
  constexpr group_word low = 0x0f0f0f0f, one_bit = 0x01010101, two_bits = 0x03030303;
  std::array<group_word, groups> words;
  static_assert(sizeof(words) == sizeof(from.quants));
  std::memcpy(words.data(), from.quants.data(), sizeof(words));
  auto layout = layout_of(type);
  if (layout.quants != nibble_bytes) {
    for (std::size_t group = 0; group < groups; ++group)
      put_word(to.quants, group, row, words[group]);
    return;
  }
  for (std::size_t group = 0; group < 4; ++group)
    put_word(to.quants, group, row,
             (words[group] & low) | (words[group + 4] & low) << 4);
  std::array<group_word, 2> high{};
  for (std::size_t group = 0; group < groups; ++group)
    if (layout.high == group_bytes)
      high[0] |= (words[group] >> 4 & one_bit) << group;
    else
      high[group / 4] |= (words[group] >> 4 & two_bits) << group % 4 * 2;
  for (std::size_t vector = 0; vector < layout.high / group_bytes; ++vector)
    put_word(to.high, vector, row, high[vector]);
}

void put_scales(gguf::tensor_type type, const source_block& from, std::size_t row,
                std::size_t block, const block_place& to) {
  auto layout = layout_of(type);
  if (layout.super == 0) {
    put_half(to.scales, row, from.scale);
    if (layout.scales == 2 * half_row_bytes)
      put_half(to.scales, tile_rows + row, from.minimum);
    return;
  }
  to.scales[row] = static_cast<std::byte>(from.sub[0]);
  to.scales[tile_rows + row] = static_cast<std::byte>(from.sub[1]);
  if (block % super_blocks != 0)
    return;
  put_half(to.super, row, from.scale);
  if (layout.super == 2 * half_row_bytes)
    put_half(to.super, tile_rows + row, from.minimum);
}

void put_floats(std::size_t bytes, std::size_t columns, const std::byte* from,
                std::size_t row, std::byte* tile) {
  for (std::size_t column = 0; column < columns; ++column)
    std::memcpy(tile + (column * tile_rows + row) * bytes, from + column * bytes,
                bytes);
}

} // namespace

operand_form form_of(gguf::tensor_type type) {
  return gguf::shape_of(type).elements == 1 ? operand_form::floats
                                            : operand_form::int8_blocks;
}

packed_matrix::packed_matrix(gguf::tensor_type type, std::size_t rows,
                             std::size_t columns, const std::byte* source)
  : packed_matrix(type, rows, columns) {
  put(0, rows, source);
}

packed_matrix::packed_matrix(gguf::tensor_type type, std::size_t rows,
                             std::size_t columns)
  : type_(type), rows_(rows), columns_(columns),
    tile_bytes_(bytes_of_tile(type, columns)), memory_(tiles() * tile_bytes_) {
  PERIGEE_ASSERT(columns % gguf::shape_of(type).elements == 0, "rows of whole blocks");
}

packed_matrix::packed_matrix(gguf::tensor_type type, std::size_t rows,
                             std::size_t columns, aligned_slabs& from)
  : type_(type), rows_(rows), columns_(columns),
    tile_bytes_(bytes_of_tile(type, columns)),
    memory_(from.take(tiles() * tile_bytes_)) {
  PERIGEE_ASSERT(columns % gguf::shape_of(type).elements == 0, "rows of whole blocks");
}

void packed_matrix::put(std::size_t first, std::size_t count, const std::byte* source) {
  PERIGEE_ASSERT(first % tile_rows == 0 && first + count <= rows_
                   && (count % tile_rows == 0 || first + count == rows_),
                 "whole tiles, within the matrix");
  auto shape = gguf::shape_of(type_);
  auto row_bytes = gguf::bytes_of(shape, columns_);
  auto blocks = blocks_of(columns_);
  for (auto row = first; row < first + count; ++row, source += row_bytes) {
    auto* tile = memory_.data() + row / tile_rows * tile_bytes_;
    if (shape.elements == 1) {
      put_floats(shape.bytes, columns_, source, row % tile_rows, tile);
      continue;
    }
    for (std::size_t block = 0; block < blocks; ++block) {
      auto from = read_block(type_, source, block);
      block_place to(type_, tile, blocks, block);
      put_quants(type_, from, row % tile_rows, to);
      put_scales(type_, from, row % tile_rows, block, to);
    }
  }
}

matrix_view packed_matrix::view() const {
  return {type_, rows_, columns_, memory_.data(), tile_bytes_};
}

} // namespace perigee::engine::cpu
