/// \file
/// comparison: the figures of several runs, side by side.
#pragma once

#include "apps/perigee/replay/figures.hpp"

#include <string>
#include <vector>

namespace perigee::app {

struct compared_run {
  std::string name;
  figures all;
};

// Both end with a line break.

/// A column for each run; the figures that are looked at most.
std::string to_columns(const std::vector<compared_run>& runs);

/// A row for each run, fewer figures still. `title` is of the names.
std::string to_rows(const std::vector<compared_run>& runs, const std::string& title);

/// All figures of each, in a list.
std::string to_json(const std::vector<compared_run>& runs);

} // namespace perigee::app
