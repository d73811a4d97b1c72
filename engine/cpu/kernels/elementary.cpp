#include "engine/cpu/kernels/elementary.hpp"

#include "engine/cpu/kernels/exponential.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace perigee::engine::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr double log2_e = 0x1.71547652b82fep+0;
constexpr double ln2_high = 0x1.62e42feep-1; // 32 bits: its products are exact
constexpr double ln2_low = 0x1.a39ef35793c76p-33;

constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
// A half of pi in three parts, the first two so short that products with numbers of
// quarter turns are exact.
constexpr double quarter_first = 0x1.921fb544p+0;
constexpr double quarter_second = 0x1.0b4611a6p-34;
constexpr double quarter_third = 0x1.3198a2e037073p-69;

// To the nearest integer, even if between two; |x| below 2^51.
double rounded(double x) {
  constexpr double to_integer = 0x1.8p52;
  return (x + to_integer) - to_integer;
}

// first + x * (second + x * (...)).
template <std::size_t N>
double horner(const std::array<double, N>& terms, double x) {
  auto sum = terms[N - 1];
  for (std::size_t i = N - 1; i-- > 0;)
    sum = sum * x + terms[i];
  return sum;
}

// 1 / n! for n = First, First + Step, ..., with signs in turn if Alternate.
template <std::size_t N, int First, int Step, bool Alternate>
constexpr std::array<double, N> reciprocal_factorials() {
  std::array<double, N> terms{};
  double factorial = 1.0; // exact up to 18!
  int n = 0;
  for (std::size_t i = 0; i < N; ++i) {
    while (n < First + static_cast<int>(i) * Step)
      factorial *= ++n;
    terms[i] = (Alternate && i % 2 == 1 ? -1.0 : 1.0) / factorial;
  }
  return terms;
}

double two_to(std::int64_t power) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

// x as quarter turns and what is left, at most a half of one.
struct turned {
  unsigned quarters;
  double rest;
};

turned turn(double x) {
  auto quarters = rounded(x * two_over_pi);
  auto rest = ((x - quarters * quarter_first) - quarters * quarter_second)
              - quarters * quarter_third;
  return {static_cast<unsigned>(static_cast<std::int64_t>(quarters)) & 3, rest};
}

double sine_near_zero(double x) {
  static constexpr auto terms = reciprocal_factorials<9, 1, 2, true>();
  return x * horner(terms, x * x);
}

double cosine_near_zero(double x) {
  static constexpr auto terms = reciprocal_factorials<9, 0, 2, true>();
  return horner(terms, x * x);
}

double sine_of(turned angle) {
  auto size = angle.quarters % 2 == 0 ? sine_near_zero(angle.rest)
                                      : cosine_near_zero(angle.rest);
  return angle.quarters < 2 ? size : -size;
}

bool is_angle(double x) {
  return x >= -angle_max && x <= angle_max;
}

} // namespace

double exp_of(double x) {
  constexpr double most = 709.782712893384, least = -708.3964185322641;
  if (x != x)
    return nan;
  if (x > most)
    return infinity;
  if (x < least)
    return 0.0;
  static constexpr auto terms = reciprocal_factorials<14, 0, 1, false>();
  auto power = rounded(x * log2_e);
  auto rest = (x - power * ln2_high) - power * ln2_low;
  // In two factors: 2^1024 would be too large.
  auto n = static_cast<std::int64_t>(power);
  return horner(terms, rest) * two_to(n / 2) * two_to(n - n / 2);
}

double log_of(double x) {
  if (!(x >= 0.0))
    return nan;
  if (x == 0.0)
    return -infinity;
  if (x == infinity)
    return infinity;
  std::int64_t power = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    power = -54;
  }
  auto bits = std::bit_cast<std::uint64_t>(x);
  power += static_cast<std::int64_t>(bits >> 52) - 1023;
  auto part = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (part > 1.4142135623730951) {
    part *= 0.5;
    ++power;
  }
  // With f = part - 1, s = f / (2 + f), z = s * s: log(part) = 2 * artanh(s)
  // = f - s * (f - 2 * z * (1/3 + z/5 + ...)), of which f is exact. |s| < 0.172.
  static constexpr std::array<double, 11> terms{1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,
                                                1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                                1.0 / 19, 1.0 / 21, 1.0 / 23};
  auto f = part - 1.0;
  auto s = f / (2.0 + f);
  auto z = s * s;
  auto log = f - s * (f - 2.0 * z * horner(terms, z));
  auto n = static_cast<double>(power);
  return n * ln2_high + (log + n * ln2_low);
}

double sin_of(double x) {
  return is_angle(x) ? sine_of(turn(x)) : nan;
}

double cos_of(double x) {
  if (!is_angle(x))
    return nan;
  auto angle = turn(x);
  return sine_of({(angle.quarters + 1) & 3, angle.rest});
}

double pow_of(double base, double exponent) {
  return exp_of(exponent * log_of(base));
}

float exp_of(float x) {
  return exponential(x);
}

} // namespace perigee::engine::cpu
