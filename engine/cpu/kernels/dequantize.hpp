/// \file
/// dequantize: numbers out of a GGUF file.
#pragma once

#include "engine/gguf/tensor_type.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perigee::engine::cpu {

/// Writes the `n` numbers at `source`, whole blocks of `type`, to `out`. In plain
/// floats, as ggml's reference does it. For embeddings, norms, tests: about 1 ns a
/// number.
void dequantize(gguf::tensor_type type, const std::byte* source, std::size_t n,
                float* out);

std::vector<float> dequantized(gguf::tensor_type type, const std::byte* source,
                               std::size_t n);

/// IEEE half precision, exactly.
float half_to_float(std::uint16_t half);

/// To nearest even; too large becomes an infinity.
std::uint16_t float_to_half(float x);

} // namespace perigee::engine::cpu
