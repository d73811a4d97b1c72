/// \file
/// source_block: 32 quantized numbers out of a GGUF file.
#pragma once

#include "engine/cpu/kernels/views.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace perigee::engine::cpu {

/// 32 consecutive numbers of a row. What they are worth:
///
/// | type       | number                                          |
/// |------------|-------------------------------------------------|
/// | Q4_0       | scale * (quant - 8)                             |
/// | Q5_0       | scale * (quant - 16)                            |
/// | Q8_0       | scale * (quant - 128)                           |
/// | Q4_1, Q5_1 | scale * quant + minimum                         |
/// | Q4_K, Q5_K | scale * sub[0] * quant - minimum * sub[1]       |
/// | Q6_K       | scale * (i8)sub[column / 16] * (quant - 32)     |
struct source_block {
  std::array<std::uint8_t, block_columns> quants{};
  std::uint16_t scale = 0;   ///< F16, as in the file.
  std::uint16_t minimum = 0; ///< F16.
  std::array<std::uint8_t, 2> sub{};
};

/// Block `index` of the row that begins at `row`. `type` is quantized.
source_block read_block(gguf::tensor_type type, const std::byte* row,
                        std::size_t index);

} // namespace perigee::engine::cpu
