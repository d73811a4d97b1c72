/// \file
/// quantile_curve: a distribution, as it is published: by some of its quantiles.
#pragma once

#include "workload/chance.hpp"

#include <cstdint>
#include <vector>

namespace perigee::workload {

/// A share of all, and the value that so many don't exceed.
struct quantile {
  double share;
  double value;
};

/// How to get from one point to the next.
enum class way : std::uint8_t {
  straight,
  geometric, ///< Straight in the values' logarithms, as for lengths over decades.
};

/// Goes through its points, and so is fixed by them: nothing is fitted.
class quantile_curve {
public:
  /// From share 0 to share 1; neither shares nor values fall; values are above 0.
  quantile_curve(std::vector<quantile> points, way between = way::straight);

  double at(double share) const;
  double mean() const;
  /// A whole number.
  std::uint64_t draw(chance& dice) const;

private:
  std::vector<quantile> points_;
  way between_;
};

/// On straight lines through points; level beyond them.
double interpolated(const std::vector<quantile>& points, double x);

} // namespace perigee::workload
