/// \file
/// figures: all numbers that a run comes to, by name.
#pragma once

#include "apps/perigee/replay/decimal.hpp"
#include "apps/perigee/replay/summary.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::app {

/// A name says group and unit: "ttft_ms.p90". Those of a group stand together.
struct figure {
  std::string name;
  decimal value;

  bool operator==(const figure&) const = default;
};

using figures = std::vector<figure>;

figures figures_of(const replayed& run, const yardstick& by);

/// Those of them that clients see: what became of requests, and how long it took.
/// `gaps` lay between any two tokens of a request.
figures client_figures(const summary& sum, const spread& gaps, const yardstick& by);

std::optional<decimal> find(const figures& in, std::string_view name);

/// What the figures of several runs come to, one by one.
struct repeated_figure {
  std::string name;
  decimal mean;
  decimal deviation; ///< Standard deviation of a sample; 0 of one run.
  decimal least;
  decimal most;
};

/// A figure that a run lacks is 0 there. In the order in which names are met.
std::vector<repeated_figure> repeat(std::span<const figures> runs);

} // namespace perigee::app
