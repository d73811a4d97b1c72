/// \file
/// dice: numbers that follow from a seed.
#pragma once

#include <cstdint>
#include <random>

namespace perigee::test {

/// Numbers of a seed, one after the other.
class dice {
public:
  explicit dice(std::uint64_t seed) : roll_(seed) {}

  std::uint64_t below(std::uint64_t n) {
    return roll_() % n;
  }

private:
  std::mt19937_64 roll_;
};

} // namespace perigee::test
