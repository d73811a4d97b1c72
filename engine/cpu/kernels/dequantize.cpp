#include "engine/cpu/kernels/dequantize.hpp"

#include "engine/cpu/kernels/source_block.hpp"

#include <bit>
#include <cstring>

namespace perigee::engine::cpu {
namespace {

template <class T>
T at(const std::byte* from, std::size_t index) {
  T it;
  std::memcpy(&it, from + index * sizeof(T), sizeof(T));
  return it;
}

void write_block(gguf::tensor_type type, const source_block& from, float* out) {
  using enum gguf::tensor_type;
  auto scale = half_to_float(from.scale);
  auto minimum = half_to_float(from.minimum);
  auto affine = [&](float times, float plus) {
    for (std::size_t i = 0; i < block_columns; ++i)
      out[i] = times * static_cast<float>(from.quants[i]) + plus;
  };
  auto centred = [&](int middle) {
    for (std::size_t i = 0; i < block_columns; ++i)
      out[i] = scale * static_cast<float>(from.quants[i] - middle);
  };
  switch (type) {
    case q4_0: return centred(8);
    case q5_0: return centred(16);
    case q8_0: return centred(128);
    case q4_1:
    case q5_1: return affine(scale, minimum);
    case q4_k:
    case q5_k:
      return affine(scale * static_cast<float>(from.sub[0]),
                    -(minimum * static_cast<float>(from.sub[1])));
    case q6_k:
      for (std::size_t i = 0; i < block_columns; ++i)
        out[i] = scale * static_cast<float>(static_cast<std::int8_t>(from.sub[i / 16]))
                 * static_cast<float>(from.quants[i] - 32);
      return;
    case f32:
    case f16:
    case bf16: break;
  }
}

} // namespace

void dequantize(gguf::tensor_type type, const std::byte* source, std::size_t n,
                float* out) {
  using enum gguf::tensor_type;
  switch (type) {
    case f32: std::memcpy(out, source, n * sizeof(float)); return;
    case f16:
      for (std::size_t i = 0; i < n; ++i)
        out[i] = half_to_float(at<std::uint16_t>(source, i));
      return;
    case bf16:
      for (std::size_t i = 0; i < n; ++i)
        out[i]
          = std::bit_cast<float>(std::uint32_t{at<std::uint16_t>(source, i)} << 16);
      return;
    default:
      for (std::size_t i = 0; i < n / block_columns; ++i)
        write_block(type, read_block(type, source, i), out + i * block_columns);
  }
}

std::vector<float> dequantized(gguf::tensor_type type, const std::byte* source,
                               std::size_t n) {
  std::vector<float> out(n);
  dequantize(type, source, n, out.data());
  return out;
}

float half_to_float(std::uint16_t half) {
  std::uint32_t sign = (half & 0x8000u) << 16;
  std::uint32_t rest = half & 0x7fffu;
  if (rest >= 0x7c00) // infinity or NaN, which is made quiet as processors do
    return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13
                                | (rest > 0x7c00 ? 0x400000 : 0));
  if (rest < 0x400) { // subnormal: the fraction counts steps of 2^-24
    auto small = static_cast<float>(rest) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(small) | sign);
  }
  return std::bit_cast<float>(sign | ((rest << 13) + ((127u - 15u) << 23)));
}

std::uint16_t float_to_half(float x) {
  auto bits = std::bit_cast<std::uint32_t>(x);
  auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return sign | 0x7e00 | static_cast<std::uint16_t>(bits >> 13 & 0x3ff);
  if (bits >= 0x477ff000) // rounds to 2^16 or more
    return sign | 0x7c00;
  if (bits < 0x38800000) { // subnormal: adding 0.5 leaves steps of 2^-24, rounded
    auto shifted = std::bit_cast<float>(bits) + 0.5F;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted));
  }
  auto odd = bits >> 13 & 1;
  return sign
         | static_cast<std::uint16_t>((bits - ((127u - 15u) << 23) + 0xfff + odd)
                                      >> 13);
}

} // namespace perigee::engine::cpu
