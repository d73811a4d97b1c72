#include "workload/chance.hpp"

#include "schemas/assert.hpp"

#include <cmath>

namespace perigee::workload {
namespace {

constexpr double ln2 = 0.693147180559945309417;

} // namespace

double natural_log(double x) {
  PERIGEE_ASSERT(x > 0, "only what is above 0 has a logarithm");
  int power = 0;
  double part = std::frexp(x, &power); // exact; in [0.5, 1)
  if (part < 0.70710678118654752) {
    part *= 2;
    --power;
  }
  // log(part) = 2 atanh(s); |s| < 0.172, so that 11 terms are below 1e-17.
  double s = (part - 1) / (part + 1);
  double square = s * s;
  double sum = 0;
  for (int odd = 23; odd >= 1; odd -= 2)
    sum = sum * square + 1.0 / odd;
  return 2 * s * sum + power * ln2;
}

double natural_exp(double x) {
  PERIGEE_ASSERT(x >= -700 && x <= 700, "the power is a number");
  double power = std::floor(x / ln2 + 0.5);
  double rest = x - power * ln2; // within 0.347 of 0: 16 terms are below 1e-19
  double sum = 1;
  for (int term = 16; term >= 1; --term)
    sum = 1 + sum * rest / term;
  return std::ldexp(sum, static_cast<int>(power));
}

double chance::uniform() {
  return static_cast<double>(bits_() >> 11) * 0x1p-53;
}

std::uint64_t chance::below(std::uint64_t count) {
  PERIGEE_ASSERT(count > 0 && count <= (std::uint64_t{1} << 53), "something to draw");
  return static_cast<std::uint64_t>(uniform() * static_cast<double>(count));
}

bool chance::happens(double probability) {
  return uniform() < probability;
}

double chance::exponential(double mean) {
  return -mean * natural_log(1 - uniform());
}

double chance::normal() {
  for (;;) { // Marsaglia's polar method, of which the second number is let go
    double x = 2 * uniform() - 1;
    double y = 2 * uniform() - 1;
    double square = x * x + y * y;
    if (square > 0 && square < 1)
      return x * std::sqrt(-2 * natural_log(square) / square);
  }
}

} // namespace perigee::workload
