/// \file
/// bench_replay: how much faster than time itself a cluster is replayed here.
#pragma once

#include "apps/perigee/command.hpp"

namespace perigee::app {

/// Adds `bench replay`.
void add_bench_replay(CLI::App& to, session& all);

} // namespace perigee::app
