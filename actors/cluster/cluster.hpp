/// \file
/// The cluster actor: starts a process's actors, seats them, and starts again what
/// dies.
#pragma once

#include "actors/cluster/disruption_plan.hpp"
#include "actors/cluster/neighbours.hpp"
#include "actors/cluster/probe.hpp"
#include "actors/cluster/respawn_plan.hpp"
#include "actors/cluster/unit.hpp"
#include "actors/runtime/world.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace perigee::cluster {

struct options {
  respawn_limits respawns;

  /// How long open requests may go on after Drain.
  std::chrono::nanoseconds drain_limit = std::chrono::seconds{10};

  /// Whether its actors have nothing to do, nor hold anything for others. Asked now and
  /// then by one node of several that is drained and has no gateway. Empty: always so.
  std::function<bool()> is_idle{};

  /// How long it must be so: what was sent before others knew has come by then.
  std::chrono::nanoseconds idle_for = std::chrono::milliseconds{500};

  /// How often to look for messages that the system refused. 0: never, for where no
  /// other node is.
  std::chrono::nanoseconds refusals_every{0};

  /// What else happens, on the clock of the system. Of outages of the same actor, and of
  /// fills of the same shard, one is over before another begins.
  std::vector<disruption> disruptions{};

  /// Other processes of the same cluster. Nothing: it is all in this one.
  std::optional<neighbourhood> elsewhere{};
};

std::string to_string(const options& how);

/// Starts the cluster at `where`, and with it all of `all`. One per process. Owns
/// `roster`, the one that the worlds of all its actors show: clears it, then seats
/// itself and whom it starts. Its actors end with it.
///
/// It ends after Drain, when no request is open any more or the limit has passed, and
/// every actor of its own has ended. One node of several, that has no gateway: when it
/// is idle, and nothing new is placed there meanwhile.
cluster_actor start(const rt::world& in, rt::place where, rt::roster& roster, units all,
                    options how = {},
                    std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::cluster
