/// \file
/// What the events of a replay must be, beside each other and the rest of a topology.
#pragma once

#include "actors/cluster/topology_check.hpp"

#include <vector>

namespace perigee::cluster {

/// All that does not fit. Pure.
std::vector<contradiction> event_contradictions(const topology& all);

} // namespace perigee::cluster
