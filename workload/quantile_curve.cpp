#include "workload/quantile_curve.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::workload {

double interpolated(const std::vector<quantile>& points, double x) {
  PERIGEE_ASSERT(!points.empty(), "a curve has points");
  auto after
    = std::upper_bound(points.begin(), points.end(), x,
                       [](double left, const quantile& p) { return left < p.share; });
  if (after == points.begin())
    return after->value;
  auto before = after - 1;
  if (after == points.end())
    return before->value;
  double way = (x - before->share) / (after->share - before->share);
  return before->value + way * (after->value - before->value);
}

quantile_curve::quantile_curve(std::vector<quantile> points, way between)
  : points_{std::move(points)}, between_{between} {
  PERIGEE_ASSERT(points_.size() >= 2 && points_.front().share == 0
                   && points_.back().share == 1 && points_.front().value > 0,
                 "a distribution's quantiles go from share 0 to share 1");
  for (std::size_t i = 1; i < points_.size(); ++i)
    PERIGEE_ASSERT(points_[i - 1].share < points_[i].share
                     && points_[i - 1].value <= points_[i].value,
                   "shares rise, and values don't fall");
  if (between_ == way::geometric)
    for (auto& point : points_)
      point.value = natural_log(point.value);
}

double quantile_curve::at(double share) const {
  auto value = interpolated(points_, share);
  return between_ == way::geometric ? natural_exp(value) : value;
}

double quantile_curve::mean() const {
  double sum = 0;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    double from = points_[i - 1].value;
    double to = points_[i].value;
    double mean = (from + to) / 2;
    if (between_ == way::geometric)
      mean = to == from ? natural_exp(to)
                        : (natural_exp(to) - natural_exp(from)) / (to - from);
    sum += (points_[i].share - points_[i - 1].share) * mean;
  }
  return sum;
}

std::uint64_t quantile_curve::draw(chance& dice) const {
  return static_cast<std::uint64_t>(std::llround(at(dice.uniform())));
}

} // namespace perigee::workload
