/// \file
/// chance: random numbers that are the same everywhere.
#pragma once

#include <cstdint>
#include <random>

namespace perigee::workload {

/// What one seed draws is the same with every compiler, library and processor: the
/// engine is fixed by the standard, and all that follows is exact or rounded alike
/// (sums, products, square roots). So no std:: distribution, and no std::log.
class chance {
public:
  explicit chance(std::uint64_t seed) : bits_{seed} {}

  /// In [0, 1).
  double uniform();
  /// In [0, count), each as likely as the others but for 2^-53; `count` is not 0.
  std::uint64_t below(std::uint64_t count);
  bool happens(double probability);
  /// At least 0, with that mean.
  double exponential(double mean);
  /// Mean 0, variance 1.
  double normal();

private:
  std::mt19937_64 bits_;
};

/// Within 1e-14 of the logarithm; `x` is above 0.
double natural_log(double x);
/// Within a relative 1e-14 of the power; `x` in [-700, 700].
double natural_exp(double x);

} // namespace perigee::workload
