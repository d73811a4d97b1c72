/// \file
/// exp and log of our own: the C library's give other bits on other processors.
///
/// Only additions, multiplications and moves of bits, in a fixed order: whatever width
/// a compiler gives them, each number comes out the same.
#pragma once

#include <bit>
#include <cstdint>

namespace perigee::engine {

/// e^x for x <= 88, within 2e-7 of it; 0 for x below -87 and for NaN.
inline float exp_of(float x) {
  constexpr float lowest = -87.0f;
  // Adding it leaves the nearest integer in the low bits of the sum.
  constexpr float rounder = 12582912.0f;
  float inside = x > lowest ? x : lowest;
  float shifted = inside * 1.44269504088896341f + rounder;
  float n = shifted - rounder;
  float r = inside - n * 0.693359375f;
  r = r + n * 2.12194440e-4f; // ln 2 in two parts, the first exact in a product with n
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  float y = p * (r * r) + r + 1.0f;
  auto power = (std::bit_cast<std::uint32_t>(shifted) - 0x4b400000u + 127u) << 23;
  float scaled = y * std::bit_cast<float>(power);
  return x > lowest ? scaled : 0.0f;
}

/// The natural logarithm of a positive, normal number, within 1e-14.
inline double log_of(double x) {
  auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  auto m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh(z), and |z| < 0.172: 12 terms are enough.
  double z = (m - 1) / (m + 1);
  double square = z * z;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2)
    sum = sum * square + 1.0 / k;
  return 2 * z * sum + exponent * 0.69314718055994530942;
}

} // namespace perigee::engine
