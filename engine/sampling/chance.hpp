/// \file
/// Numbers that look like chance and are a function of their arguments alone.
#pragma once

#include <cstdint>

namespace perigee::engine {

/// Spreads each bit of `n` over all of the answer; one to one.
constexpr std::uint64_t mixed(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
  n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
  return n ^ (n >> 31);
}

constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return mixed(mixed(a) ^ b);
}

/// In [0, 1), a multiple of 2^-53.
constexpr double chance(std::uint64_t seed, std::uint64_t position) {
  return static_cast<double>(mixed(seed, position) >> 11) * 0x1p-53;
}

} // namespace perigee::engine
