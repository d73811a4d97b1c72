/// \file
/// The network that a topology describes, in the words of transport/.
#pragma once

#include "actors/cluster/topology.hpp"
#include "transport/modelled/network.hpp"

#include <chrono>

namespace perigee::cluster {

/// The hardware that a node's engines stand for; null if they stand for none.
const hardware_settings* hardware_of(const topology& all, const node& one);

/// Nodes are hosts, by their index. Its faults are events of a trace that began when the
/// clock showed `trace_began`. Of a topology that has been checked. Pure.
transport::network_plan network_of(const topology& all,
                                   std::chrono::nanoseconds trace_began = {});

/// Whether moving anything from one node to another takes time, events aside.
bool has_network(const topology& all);

} // namespace perigee::cluster
