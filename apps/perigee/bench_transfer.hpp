/// \file
/// bench_transfer: how fast transports move blocks here, beside what limits them.
#pragma once

#include "apps/perigee/command.hpp"

namespace perigee::app {

/// Adds `bench transfer`.
void add_bench_transfer(CLI::App& to, session& all);

} // namespace perigee::app
