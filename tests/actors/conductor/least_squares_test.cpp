#include "actors/conductor/least_squares.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

namespace perigee::conductor {
namespace {

/// A cost of `c` for terms like those of a prefill: 1, n, n^2.
std::vector<observation> seen(const coefficients& c, double error = 0) {
  std::vector<observation> all;
  double sign = 1;
  for (double n : {16., 128., 1024., 8192., 131072.}) {
    auto value = c[0] + c[1] * n + c[2] * n * n;
    all.push_back({{1, n, n * n}, value * (1 + sign * error)});
    sign = -sign;
  }
  return all;
}

TEST_CASE("coefficients that made the data come back from it") {
  coefficients made{98e6, 104'100, 0.923};
  auto fitted = fit_nonnegative(seen(made)).value();
  for (std::size_t i = 0; i < terms; ++i)
    CHECK(fitted[i] == Approx(made[i]).epsilon(1e-6));
}

TEST_CASE("small errors in the data stay small errors of the fit") {
  coefficients made{98e6, 104'100, 0.923};
  auto data = seen(made, 0.02);
  auto fitted = fit_nonnegative(data).value();
  for (const auto& one : data) {
    double sum = 0;
    for (std::size_t i = 0; i < terms; ++i)
      sum += fitted[i] * one.term[i];
    CHECK(std::abs(sum / one.value - 1) < 0.05);
  }
}

TEST_CASE("a term that would have to be negative is left out") {
  auto fitted = fit_nonnegative(seen({1000, 50, -0.0003})).value();
  CHECK(fitted[2] == 0);
  CHECK(fitted[1] > 0);
}

TEST_CASE("what the data don't tell apart goes to the earlier term") {
  std::vector<observation> same(5, {{1, 10, 100}, 7});
  auto constant = fit_nonnegative(same).value();
  CHECK(constant[0] == Approx(7));
  CHECK(constant[1] == 0);
  CHECK(constant[2] == 0);
  std::vector<observation> batch_of_one;
  for (double kv : {16., 64., 512.})
    batch_of_one.push_back({{1, 1, kv}, 1000 + 3 * kv});
  auto fitted = fit_nonnegative(batch_of_one).value();
  CHECK(fitted[0] == Approx(1000));
  CHECK(fitted[1] == 0);
  CHECK(fitted[2] == Approx(3));
}

TEST_CASE("values that scatter are met in their mean") {
  std::vector<observation> all;
  for (double n : {1., 2., 4.})
    for (double value : {5., 5., 5., 25.})
      all.push_back({{0, n, 0}, n * value});
  CHECK(fit_nonnegative(all).value()[1] == Approx(10).epsilon(1e-3));
}

TEST_CASE("no data fit nothing") {
  CHECK_FALSE(fit_nonnegative({}));
}

} // namespace
} // namespace perigee::conductor
