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

} // namespace perigee::engine::cpu
