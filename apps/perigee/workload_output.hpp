/// \file
/// How traces, and what they are like, leave `perigee workload`.
#pragma once

#include "workload/request_source.hpp"
#include "workload/statistics.hpp"

#include <optional>
#include <string>

namespace perigee::app {

/// Writes all that `from` gives to the file `out`, or to stdout if that is `-`. Says
/// what went wrong; what came before it is written.
std::optional<std::string> write_trace(workload::request_source& from,
                                       const std::string& out);

/// A page for people, to stdout.
void print_summary(const workload::trace_summary& all);

} // namespace perigee::app
