/// \file
/// Where events go: to stderr, a line each.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <vector>

namespace perigee::app {

/// As --log-level takes them.
const std::vector<std::string>& log_levels();

/// A logger whose lines are `time level [name] event key=value ...`. Modules clone it
/// under their own names. `level` is one of log_levels().
std::shared_ptr<spdlog::logger> make_log(const std::string& level);

} // namespace perigee::app
