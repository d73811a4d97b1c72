/// \file
/// exponential: exp in float, written so that compilers make vectors of it.
#pragma once

#include "engine/cpu/kernels/unrolled.hpp"

#include <cstdint>

namespace perigee::engine::cpu {
namespace {

/// Within 2 units in the last place; 0 below -87.3, infinity above 88.7, NaN for NaN.
PERIGEE_INLINE float exponential(float x) {
  constexpr float least = -87.3F, most = 89.0F;
  constexpr float to_integer = 12582912.0F; // 1.5 * 2^23: adding it rounds
  constexpr float log2_e = 1.44269504F;
  constexpr float ln2_high = 0.693359375F; // nine bits, so that products are exact
  constexpr float ln2_low = -2.12194440e-4F;
  auto within = x > most ? most : x;
  within = within < least ? least : within;
  auto shifted = within * log2_e + to_integer;
  auto power = shifted - to_integer;
  auto rest = (within - power * ln2_high) - power * ln2_low;
  // exp(rest) for |rest| <= ln(2) / 2.
  auto sum = 1.9875691500e-4F;
  sum = sum * rest + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = (sum * rest * rest + rest) + 1.0F;
  // 2^power in two factors: in one, 2^128 would be too large.
  auto bits = __builtin_bit_cast(std::int32_t, shifted)
              - __builtin_bit_cast(std::int32_t, to_integer);
  auto half = bits >> 1;
  auto first = __builtin_bit_cast(float, (half + 127) << 23);
  auto second = __builtin_bit_cast(float, (bits - half + 127) << 23);
  auto whole = sum * first * second;
  return x < least ? 0.0F : whole;
}

} // namespace
} // namespace perigee::engine::cpu
