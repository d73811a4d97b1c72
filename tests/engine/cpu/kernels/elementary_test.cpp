#include "engine/cpu/kernels/elementary.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

namespace perigee::engine::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class uniform {
public:
  explicit uniform(unsigned seed) : random_(seed) {}

  double operator()(double from, double to) {
    return from + (to - from) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }

private:
  std::mt19937_64 random_;
};

// In units in the last place of `exact`.
double ulps(double got, long double exact) {
  auto last = std::nextafter(std::fabs(static_cast<double>(exact)), infinity)
              - std::fabs(static_cast<double>(exact));
  return static_cast<double>(std::fabs(got - exact)) / last;
}

TEST_CASE("exp is within two units in the last place") {
  uniform draw(1);
  for (int i = 0; i < 100000; ++i) {
    auto x = i % 2 == 0 ? draw(-708, 709) : draw(-1, 1);
    if (ulps(exp_of(x), std::exp(static_cast<long double>(x))) > 2)
      FAIL_CHECK(x);
    auto small = static_cast<float>(draw(-87, 88.7));
    auto exact = std::exp(double{small});
    if (std::fabs(exp_of(small) - exact) > 2 * exact * 0x1p-23)
      FAIL_CHECK(small);
  }
  CHECK(exp_of(0.0) == 1.0);
  CHECK(exp_of(0.0F) == 1.0F);
}

TEST_CASE("log is within two units in the last place, or 1e-16") {
  uniform draw(2);
  for (int i = 0; i < 100000; ++i) {
    auto x = i % 2 == 0 ? draw(0.5, 2) : std::exp(draw(-700, 700));
    auto exact = std::log(static_cast<long double>(x));
    if (ulps(log_of(x), exact) > 2 && std::fabs(log_of(x) - exact) > 1e-16L)
      FAIL_CHECK(x);
  }
  CHECK(log_of(1.0) == 0.0);
  CHECK(ulps(log_of(0x1p-1074), std::log(0x1p-1074L)) < 2);
}

TEST_CASE("sine and cosine are within 3e-16 up to the greatest angle") {
  uniform draw(3);
  for (int i = 0; i < 100000; ++i) {
    auto x = i % 2 == 0 ? draw(-10, 10) : draw(-angle_max, angle_max);
    if (std::fabs(sin_of(x) - std::sin(static_cast<long double>(x))) > 3e-16L
        || std::fabs(cos_of(x) - std::cos(static_cast<long double>(x))) > 3e-16L)
      FAIL_CHECK(x);
  }
  CHECK(sin_of(0) == 0);
  CHECK(cos_of(0) == 1);
  CHECK(std::fabs(sin_of(angle_max) - std::sin(static_cast<long double>(angle_max)))
        < 3e-16L);
}

TEST_CASE("powers are as near as their logarithm lets them") {
  uniform draw(4);
  for (int i = 0; i < 10000; ++i) {
    auto base = draw(0.1, 1e6), exponent = draw(-2, 2);
    auto exact = std::pow(static_cast<long double>(base), exponent);
    auto size = std::fabs(exponent * std::log(base)) + 1;
    if (std::fabs(pow_of(base, exponent) - exact) > exact * 5e-16L * size)
      FAIL_CHECK(base << "^" << exponent);
  }
  CHECK(pow_of(10000, 0) == 1);
}

TEST_CASE("what has no value, or too large a one, is said so") {
  CHECK(exp_of(710.0) == infinity);
  CHECK(exp_of(-709.0) == 0);
  CHECK(exp_of(infinity) == infinity);
  CHECK(exp_of(-infinity) == 0);
  CHECK(std::isnan(exp_of(nan)));
  CHECK(exp_of(89.0F) == std::numeric_limits<float>::infinity());
  CHECK(exp_of(-88.0F) == 0.0F);
  CHECK(std::isnan(exp_of(std::numeric_limits<float>::quiet_NaN())));
  CHECK(log_of(0) == -infinity);
  CHECK(log_of(infinity) == infinity);
  CHECK(std::isnan(log_of(-1)));
  CHECK(std::isnan(log_of(nan)));
  CHECK(std::isnan(sin_of(3e6)));
  CHECK(std::isnan(cos_of(infinity)));
  CHECK(std::isnan(sin_of(nan)));
}

} // namespace
} // namespace perigee::engine::cpu
