#include "workload/chance.hpp"

#include "workload/quantile_curve.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace perigee::workload {
namespace {

TEST_CASE("logarithm and power agree with the library's") {
  for (double x : {1e-300, 1e-9, 0.1, 0.5, 0.70710678, 0.9999999, 1.0, 1.5, 2.0, 1e6}) {
    CHECK(natural_log(x) == Approx(std::log(x)).epsilon(1e-14).margin(1e-15));
  }
  for (double x : {-700.0, -20.0, -1.0, -1e-9, 0.0, 0.3, 1.0, 13.7, 700.0})
    CHECK(natural_exp(x) == Approx(std::exp(x)).epsilon(1e-13));
}

TEST_CASE("a seed draws these numbers, on every machine") {
  // Written down once: whoever changes them changes everybody's traces.
  chance dice{7};
  CHECK(dice.uniform() == 0x1.823eca63d6cdbp-1);
  CHECK(dice.exponential(2) == 0x1.7dad5cb8e0224p+2);
  CHECK(dice.normal() == -0x1.f1f3c2f1a30bfp-1);
  CHECK(dice.below(1'000'000) == 755'745);
}

TEST_CASE("draws have the mean and variance that are asked for") {
  chance dice{3};
  constexpr int count = 100'000;
  double exponential = 0, normal = 0, square = 0, below = 0;
  for (int i = 0; i < count; ++i) {
    exponential += dice.exponential(5);
    auto x = dice.normal();
    normal += x;
    square += x * x;
    below += static_cast<double>(dice.below(11));
  }
  CHECK(exponential / count == Approx(5).epsilon(0.02));
  CHECK(normal / count == Approx(0).margin(0.02));
  CHECK(square / count == Approx(1).epsilon(0.02));
  CHECK(below / count == Approx(5).epsilon(0.02));
}

TEST_CASE("a curve goes through its quantiles, straight or geometrically") {
  quantile_curve straight{{{0, 10}, {0.5, 20}, {1, 220}}};
  CHECK(straight.at(0) == 10);
  CHECK(straight.at(0.25) == 15);
  CHECK(straight.at(0.5) == 20);
  CHECK(straight.at(1) == 220);
  CHECK(straight.mean() == Approx(0.5 * 15 + 0.5 * 120));
  quantile_curve geometric{{{0, 10}, {0.5, 1'000}, {1, 1'000}}, way::geometric};
  CHECK(geometric.at(0.25) == Approx(100));
  CHECK(geometric.at(0.75) == Approx(1'000));
  CHECK(geometric.mean() == Approx(0.5 * 990 / std::log(100) + 500));
}

TEST_CASE("what is drawn of a curve has its mean") {
  quantile_curve curve{{{0, 5}, {0.9, 500}, {1, 90'000}}, way::geometric};
  chance dice{1};
  double sum = 0;
  for (int i = 0; i < 200'000; ++i)
    sum += static_cast<double>(curve.draw(dice));
  CHECK(sum / 200'000 == Approx(curve.mean()).epsilon(0.03));
}

} // namespace
} // namespace perigee::workload
