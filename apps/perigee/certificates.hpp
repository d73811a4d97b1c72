/// \file
/// certificates: an authority of one's own, for the nodes of a cluster.
#pragma once

#include "actors/cluster/topology.hpp"
#include "schemas/result.hpp"

#include <map>
#include <string>

namespace perigee::app {

/// Fills `folder` for the nodes of `all` with what key_files names: an authority, for
/// each node a certificate by it (of its name and address) and both its keys. Files of
/// keys are for their owner alone. The authority's own key is not kept: who adds a node
/// makes all anew.
///
/// Returns the public halves that the topology is to list, by node. Fails with a
/// sentence; never writes over a file.
result<std::map<std::string, std::string>, std::string>
make_certificates(const cluster::topology& all, const std::string& folder, long days);

} // namespace perigee::app
