/// \file
/// Makes operands of tokens. `V` makes each file's copy its own, see product.hpp.
#pragma once

#include "engine/cpu/kernels/layout.hpp"
#include "engine/cpu/kernels/unrolled.hpp"

namespace perigee::engine::cpu {

/// 32 numbers as int8, and what goes with them.
struct int8_block {
  float scale;
  std::int32_t halves[2]; // sums of 16
};

/// Of |x|, by its bits: infinities and NaN are the greatest.
template <class V>
std::int32_t greatest_bits(const float* x) {
  std::int32_t most = 0;
  for (std::size_t i = 0; i < block_columns; ++i) {
    auto bits = __builtin_bit_cast(std::int32_t, x[i]) & 0x7fffffff;
    most = bits > most ? bits : most;
  }
  return most;
}

template <class V>
int8_block to_int8(const float* x, std::byte* out) {
  constexpr float to_integer = 12582912.0F; // 1.5 * 2^23: adding it rounds
  constexpr float least = 1e-30F;           // what is smaller is 0
  constexpr std::int32_t infinity = 0x7f800000;
  auto bits = greatest_bits<V>(x);
  auto most = __builtin_bit_cast(float, bits);
  if (bits >= infinity || most < least) {
    __builtin_memset(out, 0, block_columns);
    return {bits >= infinity ? __builtin_nanf("") : 0.0F, {0, 0}};
  }
  auto factor = 127.0F / most;
  int8_block made{most / 127.0F, {0, 0}};
  for (std::size_t half = 0; half < 2; ++half) {
    std::int32_t sum = 0;
    for (std::size_t i = half * 16; i < half * 16 + 16; ++i) {
      auto rounded = __builtin_bit_cast(std::int32_t, x[i] * factor + to_integer)
                     - __builtin_bit_cast(std::int32_t, to_integer);
      out[i] = static_cast<std::byte>(rounded);
      sum += rounded;
    }
    made.halves[half] = sum;
  }
  return made;
}

/// Token `t` of the `of` in a tile.
template <class V>
void prepare_int8(const float* x, std::size_t blocks, std::size_t t, std::size_t of,
                  std::byte* tile) {
  for (std::size_t block = 0; block < blocks; ++block) {
    auto made = to_int8<V>(x + block * block_columns, tile + t * block_columns);
    auto sum = made.halves[0] + made.halves[1];
    float reals[2] = {made.scale, made.scale * static_cast<float>(sum)};
    std::int32_t wholes[3] = {-sum, -made.halves[0], -made.halves[1]};
    auto* numbers = tile + of * block_columns + t * sizeof(float);
    for (std::size_t i = 0; i < 2; ++i)
      __builtin_memcpy(numbers + i * of * sizeof(float), reals + i, sizeof(float));
    for (std::size_t i = 0; i < 3; ++i)
      __builtin_memcpy(numbers + (i + 2) * of * sizeof(float), wholes + i,
                       sizeof(float));
    tile += of * int8_block_bytes;
  }
}

template <class V>
void prepare_floats(const float* x, std::size_t columns, std::size_t blocks,
                    std::size_t t, std::size_t of, std::byte* tile) {
  auto* out = reinterpret_cast<float*>(tile) + t;
  for (std::size_t column = 0; column < blocks * block_columns; ++column)
    out[column * of] = column < columns ? x[column] : 0.0F;
}

template <class V>
void prepare(rows x, operand_view into, std::size_t begin, std::size_t end) {
  auto blocks = (into.columns + block_columns - 1) / block_columns;
  bool floats = into.form == operand_form::floats;
  auto token_bytes = blocks * (floats ? float_block_bytes : int8_block_bytes);
  for (auto first = begin * tile_tokens;
       first < end * tile_tokens && first < into.tokens; first += tile_tokens) {
    auto left = into.tokens - first;
    auto of = left < tile_tokens ? left : tile_tokens;
    auto* tile = into.data + first * token_bytes;
    for (std::size_t t = 0; t < of; ++t) {
      const auto* from = x.data + (first + t) * x.stride;
      if (floats)
        prepare_floats<V>(from, into.columns, blocks, t, of, tile);
      else
        prepare_int8<V>(from, blocks, t, of, tile);
    }
  }
}

} // namespace perigee::engine::cpu
