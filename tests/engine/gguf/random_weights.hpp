/// \file
/// random_weights: tensors of any type, with numbers of a sensible size.
#pragma once

#include "engine/cpu/kernels/dequantize.hpp"
#include "engine/gguf/tensor_type.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace perigee::engine::gguf {

/// From [-1, 1), in steps of 2^-15.
inline float random_real(std::mt19937& random) {
  return static_cast<float>(static_cast<std::int32_t>(random() & 0xffff) - 0x8000)
         * 0x1p-15F;
}

/// The bytes of `n` numbers, whole blocks of `type`, at most about `size` from zero.
/// Every pattern of quants, signs and sub-scales occurs.
inline std::vector<std::byte> random_weights(tensor_type type, std::size_t n,
                                             float size, std::mt19937& random) {
  using enum tensor_type;
  auto shape = shape_of(type);
  std::vector<std::byte> all(bytes_of(shape, n));
  for (auto& one : all)
    one = static_cast<std::byte>(random() >> 16);
  auto put_half = [&](std::size_t at, float x) {
    auto half = cpu::float_to_half(x);
    std::memcpy(all.data() + at, &half, sizeof(half));
  };
  for (std::size_t at = 0; at < all.size(); at += shape.bytes) {
    auto number = size * random_real(random);
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    switch (type) {
      case f32: std::memcpy(all.data() + at, &number, sizeof(number)); break;
      case f16: put_half(at, number); break;
      case bf16: {
        auto high = static_cast<std::uint16_t>(bits >> 16);
        std::memcpy(all.data() + at, &high, sizeof(high));
        break;
      }
      case q4_0: put_half(at, number / 8); break;
      case q5_0: put_half(at, number / 16); break;
      case q8_0: put_half(at, number / 128); break;
      case q4_1:
      case q5_1:
        put_half(at, number / (type == q4_1 ? 16.0f : 32.0f));
        put_half(at + 2, size * random_real(random));
        break;
      case q4_k:
      case q5_k:
        put_half(at, number / (63 * (type == q4_k ? 16.0f : 32.0f)));
        put_half(at + 2, size * random_real(random) / 63);
        break;
      case q6_k: put_half(at + 208, number / (128 * 32)); break;
    }
  }
  return all;
}

/// Every type there is, slowly growing.
inline constexpr tensor_type every_type[]{
  tensor_type::q4_0, tensor_type::q4_k, tensor_type::q4_1, tensor_type::q5_0,
  tensor_type::q5_k, tensor_type::q5_1, tensor_type::q6_k, tensor_type::q8_0,
  tensor_type::f16,  tensor_type::bf16, tensor_type::f32};

} // namespace perigee::engine::gguf
