/// \file
/// virtual_cluster: every actor of a topology, in virtual time, with modelled engines.
#pragma once

#include "actors/cluster/inventory.hpp"
#include "actors/cluster/topology.hpp"
#include "actors/runtime/caf_port.hpp"
#include "actors/runtime/doorway.hpp"
#include "actors/runtime/roster.hpp"
#include "actors/runtime/virtual_time.hpp"
#include "apps/perigee/model.hpp"

#include <memory>

namespace perigee::app {

/// The actors are those that serve for real; only the HTTP server is not there. One
/// thread runs it, and a seed decides all that is not decided otherwise.
class virtual_cluster {
public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Starts all actors. Every engine of `all` is modelled, and there is some: anything
  /// else is a bug. `clients` hear all answers, `record` of all messages. The events of
  /// `all` count from `trace_begins`.
  virtual_cluster(const cluster::topology& all, const model_outline& of,
                  std::shared_ptr<gateway::patron> clients, std::uint64_t seed,
                  nanoseconds trace_begins, std::shared_ptr<spdlog::logger> log,
                  rt::journal& record);
  ~virtual_cluster();

  virtual_cluster(const virtual_cluster&) = delete;
  virtual_cluster& operator=(const virtual_cluster&) = delete;

  nanoseconds now() const {
    return time_.now();
  }

  /// Lets time pass until `moment`; all that falls due by then has happened.
  void run_until(nanoseconds moment);

  /// Lets time pass to the next moment at which anything happens, and that happen.
  /// False, and nothing happens, if that is after `limit`.
  bool run_to_next(nanoseconds limit) {
    return time_.advance_to_next(limit);
  }

  /// Where requests come in.
  rt::doorway& door() {
    return *door_;
  }

  const cluster::probes& counts() const {
    return counts_;
  }

private:
  struct config : rt::system_config {
    config();
  };

  const cluster::topology all_;
  const model of_;
  config config_;
  caf::actor_system system_;
  rt::virtual_time time_;
  rt::roster roster_;
  rt::world world_;
  cluster::probes counts_;
  std::unique_ptr<rt::doorway> door_;
  cluster_actor cluster_;
};

} // namespace perigee::app
