/// \file
/// What a cluster is started with, whether it serves for real or in virtual time.
#pragma once

#include "actors/cluster/cluster.hpp"
#include "actors/cluster/inventory.hpp"
#include "actors/cluster/topology.hpp"
#include "apps/perigee/model.hpp"

#include <memory>
#include <optional>

namespace perigee::app {

/// Actors that a process may have.
inline constexpr std::size_t seats_max = 65'536;

/// How the cluster's actor is to behave.
cluster::options options_of(const cluster::topology& all);

/// What the actors are made with. Without weights, all engines are modelled: they take
/// time, and nothing holds bytes. Arenas are from `allocate`; empty: from the heap.
/// `all` and `of` outlive the actors.
cluster::means
means_of(const cluster::topology& all, const model& of,
         std::shared_ptr<gateway::patron> patron, const conductor::cost_model& cost,
         const std::function<std::shared_ptr<std::byte>(std::size_t)>& allocate = {});

/// What the conductor predicts with, if that need not be measured: the topology's cost
/// model, or that of the modelled hardware.
std::optional<conductor::cost_model> known_costs(const cluster::topology& all,
                                                 const model& of);

} // namespace perigee::app
