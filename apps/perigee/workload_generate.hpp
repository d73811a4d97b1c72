/// \file
/// `perigee workload generate`.
#pragma once

#include "apps/perigee/command.hpp"

namespace perigee::app {

void add_generate(CLI::App& to, session& all);

} // namespace perigee::app
