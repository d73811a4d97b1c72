/// \file
/// How flows share links, fairly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace perigee::transport {

/// Position of a link in a list of capacities.
using link_index = std::uint32_t;

/// The links that a flow goes over, as from its sender over the core to its receiver.
using flow_path = std::vector<link_index>;

/// What each flow gets, max-min fair: none could have more unless one that has no more
/// than it had less. In the unit of `capacities`, which are positive.
///
/// A flow over no link gets infinitely much. Every path's links must be there.
/// Cost: links times links, plus links times flows.
std::vector<double> fair_share(std::span<const double> capacities,
                               std::span<const flow_path> flows);

} // namespace perigee::transport
