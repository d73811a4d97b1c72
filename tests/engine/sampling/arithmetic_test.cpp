#include "engine/sampling/arithmetic.hpp"

#include "engine/sampling/chance.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace perigee::engine {
namespace {

TEST_CASE("e^x is within 2e-7 of it") {
  double worst = 0;
  for (double x = -86.9; x < 88; x += 0.0137) {
    auto given = static_cast<float>(x);
    double right = std::exp(static_cast<double>(given));
    worst = std::max(worst, std::abs(exp_of(given) - right) / right);
  }
  CHECK(worst < 2e-7);
}

TEST_CASE("e^x is exactly 1 at 0, and 0 where it is tiny or x is no number") {
  CHECK(exp_of(0.0f) == 1.0f);
  CHECK(exp_of(-88.0f) == 0.0f);
  CHECK(exp_of(-std::numeric_limits<float>::infinity()) == 0.0f);
  CHECK(exp_of(std::numeric_limits<float>::quiet_NaN()) == 0.0f);
}

TEST_CASE("the logarithm is within 1e-14") {
  for (double x = 1e-30; x < 1e30; x *= 1.37)
    CHECK(std::abs(log_of(x) - std::log(x))
          <= 1e-14 * std::max(1.0, std::abs(std::log(x))));
  CHECK(log_of(1.0) == 0.0);
}

TEST_CASE("chance is spread evenly, and differs by seed and by position") {
  double sum = 0;
  int low = 0;
  std::set<double> seen;
  for (std::uint64_t position = 0; position < 10000; ++position) {
    double u = chance(7, position);
    REQUIRE((u >= 0 && u < 1));
    sum += u;
    low += u < 0.1;
    seen.insert(u);
  }
  CHECK(std::abs(sum / 10000 - 0.5) < 0.01);
  CHECK(std::abs(low - 1000) < 100);
  CHECK(seen.size() == 10000);
  CHECK(chance(7, 1) != chance(8, 1));
  CHECK(chance(7, 1) != chance(1, 7));
}

} // namespace
} // namespace perigee::engine
