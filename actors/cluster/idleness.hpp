/// \file
/// idleness: whether the actors of a process could all end now.
#pragma once

#include "actors/cluster/inventory.hpp"

namespace perigee::cluster {

/// Whether none has a request, moves anything, or holds blocks that somebody reads or
/// writes, by what they count. Any thread.
bool is_idle(const probes& of);

} // namespace perigee::cluster
