/// \file
/// same_bits: compares floats as the numeric profile means it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace perigee::engine::cpu {

/// Equal bits, or NaN both: which NaN an operation gives is not promised.
inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size())
    return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])
        && !(std::isnan(a[i]) && std::isnan(b[i])))
      return false;
  return true;
}

/// `n` numbers around zero, most of them below `size`.
inline std::vector<float> random_reals(std::size_t n, float size,
                                       std::mt19937& random) {
  std::vector<float> all(n);
  for (auto& one : all) {
    auto x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31F;
    one = size * x * x * x * 4;
  }
  return all;
}

} // namespace perigee::engine::cpu
