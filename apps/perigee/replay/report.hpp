/// \file
/// report: what a replay says, for people and for programs.
#pragma once

#include "apps/perigee/replay/figures.hpp"

#include <string>

namespace perigee::app {

/// What reports tell of a run.
struct told_run {
  std::string topology; ///< Its file, or where a real cluster is.
  std::string trace;
  std::uint64_t seed = 1;
  yardstick by;
};

// All end with a line break.

/// For a terminal.
std::string to_table(const figures& all, const told_run& what);
/// What clients see of it: client_figures(), and `answers.` with counts by status.
std::string to_client_table(const figures& all, const told_run& what);
std::string to_table(const std::vector<repeated_figure>& all, const told_run& what,
                     std::size_t runs);

/// One JSON object: the figures, one object for each group of them, and what was read
/// of the cluster over time.
std::string to_json(const figures& all, const replayed& run, const told_run& what);

/// The same of several runs: mean, deviation, least and most of each figure.
std::string to_json(const std::vector<repeated_figure>& all, const told_run& what,
                    std::size_t runs);

/// One page with all of it, plotted, that needs no other file.
std::string to_html(const figures& all, const replayed& run, const told_run& what);

/// A line for each request, below one that names the columns. Times in seconds, but
/// TTFT and TBT in milliseconds; what there is not is empty.
std::string to_csv(std::span<const outcome> all);

} // namespace perigee::app
