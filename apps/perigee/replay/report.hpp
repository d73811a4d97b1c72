/// \file
/// report: what a replay says, for people and for programs.
#pragma once

#include "actors/cluster/topology.hpp"
#include "apps/perigee/replay/figures.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace perigee::app {

/// Something that was made to go wrong.
struct told_event {
  std::chrono::nanoseconds at{};
  std::optional<std::chrono::nanoseconds> until; ///< Nothing: to the end, or no time.
  std::string what;                              ///< "kill d1".
};

std::vector<told_event> told_events(const cluster::topology& all);

/// What reports tell of a run.
struct told_run {
  std::string topology; ///< Its file, or where a real cluster is.
  std::string trace;
  std::uint64_t seed = 1;
  yardstick by;
  std::vector<told_event> events{}; ///< By time.
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
