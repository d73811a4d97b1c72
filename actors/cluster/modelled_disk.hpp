/// \file
/// The disk that a topology describes, in the words of transport/.
#pragma once

#include "actors/cluster/topology.hpp"
#include "schemas/vocabulary.hpp"
#include "transport/disk/modelled_disk.hpp"

namespace perigee::cluster {

/// Of `slots` blocks, as the node's hardware has it; a node whose hardware is real has
/// none. Of a topology that has been checked. Pure.
transport::modelled_disk_options disk_of(const topology& all, node_index at,
                                         std::uint32_t slots);

} // namespace perigee::cluster
