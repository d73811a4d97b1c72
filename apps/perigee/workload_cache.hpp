/// \file
/// `perigee workload cache`.
#pragma once

#include "apps/perigee/command.hpp"

namespace perigee::app {

void add_cache(CLI::App& to, session& all);

} // namespace perigee::app
