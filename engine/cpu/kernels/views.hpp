/// \file
/// What kernels work on, as plain views.
///
/// No member functions here, nor anything else that a compiler might emit as a shared
/// copy: files compiled for AVX-512 include this, and the linker might keep theirs.
#pragma once

#include "engine/gguf/tensor_type.hpp"
#include "engine/kv_layout.hpp"

#include <cstddef>
#include <cstdint>

namespace perigee::engine::cpu {

inline constexpr std::size_t tile_rows = 16;     ///< Matrix rows packed together.
inline constexpr std::size_t tile_tokens = 8;    ///< Tokens prepared together.
inline constexpr std::size_t block_columns = 32; ///< Columns quantized together.

/// Positions whose scores are kept at once. Tiles begin at multiples of it, so that
/// when a query's numbers are scaled follows from its position alone.
inline constexpr std::size_t tile_positions = 256;
inline constexpr std::size_t positions_widened = 16; ///< From F16, together.

/// `count` rows of `width` floats, each `stride` floats after the one before.
struct rows {
  const float* data = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;
  std::size_t stride = 0;
};

/// As many rows as the call says, each `stride` floats after the one before.
struct rows_out {
  float* data = nullptr;
  std::size_t stride = 0;
};

/// What tokens look like to a product.
enum class operand_form : std::uint8_t {
  int8_blocks, ///< For quantized weights.
  floats,      ///< For F32, F16 and BF16 weights.
};

/// A packed_matrix: tiles of 16 rows, each `tile_bytes` after the one before.
struct matrix_view {
  gguf::tensor_type type = gguf::tensor_type::f32;
  std::size_t rows = 0;
  std::size_t columns = 0;
  const std::byte* tiles = nullptr;
  std::size_t tile_bytes = 0;
};

/// Tokens as products take them; operand.hpp says how they lie. `data` is 64-byte
/// aligned.
struct operand_view {
  operand_form form = operand_form::floats;
  std::size_t tokens = 0;
  std::size_t columns = 0;
  std::byte* data = nullptr;
};

/// One KV head of one layer, in the blocks of a sequence. Position p is row
/// p % block_tokens of block blocks[p / block_tokens], which begins `block_stride`
/// times that number after `keys` and `values`.
struct kv_view {
  const std::byte* keys = nullptr;
  const std::byte* values = nullptr;
  std::size_t block_stride = 0; ///< In bytes.
  const std::uint32_t* blocks = nullptr;
  std::size_t block_tokens = 0;
  std::size_t dim = 0; ///< Of a row; a multiple of 8.
  kv_type type = kv_type::f16;
};

/// What some tokens of one sequence, at consecutive positions, ask of one KV head.
struct attention_view {
  kv_view kv;
  std::size_t first_position = 0;
  std::size_t tokens = 0;
  std::size_t group = 1;  ///< Queries of a token.
  std::size_t window = 0; ///< Positions that a token sees, its own the last; 0: all.
  float factor = 1;       ///< Of the scores.

  /// The first token's queries, `[group][dim]`, and where what they find goes; each
  /// token so many floats after the one before.
  const float* queries = nullptr;
  std::size_t query_stride = 0;
  float* out = nullptr;
  std::size_t out_stride = 0;
  float* scratch = nullptr; ///< [attention_scratch()]
};

} // namespace perigee::engine::cpu
