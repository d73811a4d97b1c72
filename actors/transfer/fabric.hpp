/// \file
/// The fabric: the network between the nodes of a modelled cluster.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/world.hpp"
#include "actors/transfer/fabric_probe.hpp"
#include "transport/modelled/network.hpp"

#include <memory>
#include <string>

namespace perigee::transfer {

struct fabric_options {
  transport::network_plan network; ///< Its hosts are the cluster's nodes.

  /// Flows that may be under way. Who asks for more is told `busy`.
  std::size_t flows_max = 65'536;
};

/// As a journal keeps them: "hosts=8 core_bytes_per_s=0 ...".
std::string to_string(const fabric_options& how);

/// Starts a cluster's fabric at `where`. May be restarted at any time: who was moving
/// something begins again. Counts into `counts`.
fabric_actor start_fabric(const rt::world& in, rt::place where, fabric_options how,
                          std::shared_ptr<fabric_probe> counts
                          = std::make_shared<fabric_probe>());

} // namespace perigee::transfer
