/// \file
/// bench_serve: what clients of a cluster see that serves a trace for real.
#pragma once

#include "apps/perigee/command.hpp"

namespace perigee::app {

/// Adds `serve` to `perigee bench`.
void add_bench_serve(CLI::App& to, session& all);

} // namespace perigee::app
