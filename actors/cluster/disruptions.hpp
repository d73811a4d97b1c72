/// \file
/// The events of a topology, for those who bring them about: the cluster's actor, and
/// the hosts of modelled engines. Links are the network's: see modelled_network.hpp.
#pragma once

#include "actors/cluster/disruption_plan.hpp"
#include "actors/cluster/topology.hpp"
#include "actors/engine_host/pace.hpp"

#include <chrono>
#include <vector>

namespace perigee::cluster {

/// On a clock that showed `trace_began` when the trace began, as all here. Of a topology
/// that has been checked. Pure.
std::vector<disruption> disruptions_of(const topology& all,
                                       std::chrono::nanoseconds trace_began);

/// Of a node's engines.
std::vector<engine_host::slow_spell>
slow_spells_of(const topology& all, const std::string& node,
               std::chrono::nanoseconds trace_began);

} // namespace perigee::cluster
