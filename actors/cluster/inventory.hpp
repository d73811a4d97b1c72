/// \file
/// inventory: every actor that a topology asks for, ready to be started by a cluster.
#pragma once

#include "actors/cache_shard/probe.hpp"
#include "actors/cluster/topology.hpp"
#include "actors/cluster/unit.hpp"
#include "actors/conductor/cost_model.hpp"
#include "actors/conductor/probe.hpp"
#include "actors/coupled_instance/probe.hpp"
#include "actors/decode_instance/probe.hpp"
#include "actors/engine_host/engine_host.hpp"
#include "actors/gateway/gateway.hpp"
#include "actors/prefill_group/probe.hpp"
#include "actors/rejector/probe.hpp"
#include "actors/runtime/world.hpp"
#include "actors/transfer/fabric_probe.hpp"
#include "actors/transfer/transfer.hpp"
#include "engine/engine.hpp"
#include "schemas/result.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace perigee::cluster {

/// An engine that a prefill group, a decode instance or a coupled one is to own.
struct engine_wish {
  std::string engine;   ///< As the topology names it.
  std::string hardware; ///< Of a modelled one.
  std::uint64_t threads = 0;
  byte_size arena;
  std::uint32_t batch_tokens_max = 0;
};

/// Makes one, with an arena of its own; or says in a sentence why not.
using engine_maker = std::function<result<std::shared_ptr<engine::engine>, std::string>(
  const engine_wish&)>;

/// What the actors of a process are made with, beside the topology.
struct means {
  engine_maker make_engine;
  std::shared_ptr<gateway::patron> patron; ///< Of the gateway.
  engine::kv_layout layout;                ///< Of the blocks of every arena.
  conductor::cost_model cost;

  engine_host::driving driving = engine_host::driving::threaded;
  transfer::make_paths make_paths = transfer::local_path;
  bool shards_have_memory = true; ///< False: they are modelled, as engines may be.

  /// The one node that this process is; nothing: it is all of them.
  std::optional<node_index> only{};

  /// Where the memory of shards is from, if other processes are to see it: as
  /// shard::arena_plan has it. Engines have theirs by make_engine.
  std::function<std::shared_ptr<std::byte>(std::size_t bytes)> allocate{};

  /// Draws what nobody can guess, for who moves KV to other processes.
  std::function<transport::ticket()> draw_ticket{};

  /// What the system's clock shows when a trace begins: its events count from there.
  std::chrono::nanoseconds trace_began{};
};

/// Where an actor is: node, and index there.
using seat_key = std::pair<std::string, std::uint32_t>;

/// What the actors of a process count. They outlive the actors: who is started again
/// goes on counting.
struct probes {
  template <class Probe>
  using each = std::map<seat_key, std::shared_ptr<Probe>>;

  each<gateway::probe> gateways;
  each<rejector::probe> rejectors;
  each<conductor::probe> conductors;
  each<prefill::probe> prefills;
  each<decode::probe> decodes;
  each<coupled::probe> coupleds;
  each<shard::probe> shards;
  each<transfer::probe> transfers;
  each<transfer::fabric_probe> fabrics;
  each<engine_host::probe> engines;
};

/// Where gateway, rejector and conductor run.
node_index control_of(const topology& all);

/// The units of all nodes of `all`, for start(). `in` is the world of this process; its
/// node and index are replaced by those of each actor's node. Adds what they count to
/// `counts`.
units inventory(const rt::world& in, const topology& all, const means& with,
                probes& counts);

} // namespace perigee::cluster
