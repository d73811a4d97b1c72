/// \file
/// pace: how long modelled engines take, where they are slow for a while.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

namespace perigee::engine_host {

/// From `begins` on, and before `ends`, everything takes `factor` times as long.
struct slow_spell {
  std::chrono::nanoseconds begins{};
  std::chrono::nanoseconds ends = std::chrono::nanoseconds::max();
  double factor = 1;
};

/// Pure: it is told the time.
class pace {
public:
  using nanoseconds = std::chrono::nanoseconds;

  pace() = default;
  explicit pace(std::vector<slow_spell> spells) : spells_(std::move(spells)) {}

  /// What a step takes that begins at `now` and costs `cost`; all of it as slow as it
  /// begins.
  nanoseconds of(nanoseconds cost, nanoseconds now) const {
    for (const auto& one : spells_)
      if (one.begins <= now && now < one.ends)
        cost = times(cost, one.factor);
    return cost;
  }

private:
  static nanoseconds times(nanoseconds cost, double factor) {
    constexpr double longest = 1e18; // as costs are bounded
    return nanoseconds{
      std::llround(std::min(static_cast<double>(cost.count()) * factor, longest))};
  }

  std::vector<slow_spell> spells_;
};

} // namespace perigee::engine_host
