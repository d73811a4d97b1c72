/// \file
/// line_plan: what [[link]] says of the lines between processes.
#pragma once

#include "actors/cluster/topology.hpp"
#include "actors/transfer/line_terms.hpp"

namespace perigee::cluster {

/// For the transfer actor of `self`: one entry for each other node. Of a topology that
/// has been checked. Pure.
transfer::line_plan line_plan_of(const topology& all, node_index self);

} // namespace perigee::cluster
