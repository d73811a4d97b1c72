/// \file
/// The network that a topology describes, in the words of transport/.
#pragma once

#include "actors/cluster/topology.hpp"
#include "transport/modelled/network.hpp"

namespace perigee::cluster {

/// The hardware that a node's engines stand for; null if they stand for none.
const hardware_settings* hardware_of(const topology& all, const node& one);

/// Nodes are hosts, by their index. Of a topology that has been checked. Pure.
transport::network_plan network_of(const topology& all);

} // namespace perigee::cluster
