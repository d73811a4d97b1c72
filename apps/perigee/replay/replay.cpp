#include "apps/perigee/replay/replay.hpp"

#include "apps/perigee/replay/trace_clients.hpp"
#include "apps/perigee/replay/virtual_cluster.hpp"

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;

/// Long enough for everybody to report a load, and for shards to be known.
constexpr std::chrono::seconds start_up{2};

/// A request that nobody ends is a bug; the cluster's own limit is shorter.
constexpr std::chrono::hours patience{48};

constexpr cluster::count steps_max = 1024; // as much as a topology may say

} // namespace

std::optional<std::string> find_obstacle(const cluster::topology& all) {
  if (all.model.block_tokens != workload::block_tokens)
    return "model.block_tokens is " + std::to_string(all.model.block_tokens)
           + ": expected 512, the blocks of a trace";
  bool prefills = false;
  bool decodes = false;
  for (const auto& node : all.nodes) {
    for (const auto& group : node.prefill_groups)
      if (group.engine != "modelled")
        return node.name + " has a prefill group whose engine is \"" + group.engine
               + "\": expected \"modelled\", for virtual time";
    for (const auto& instance : node.decode_instances)
      if (instance.engine != "modelled")
        return node.name + " has a decode instance whose engine is \"" + instance.engine
               + "\": expected \"modelled\", for virtual time";
    prefills = prefills || !node.prefill_groups.empty();
    decodes = decodes || !node.decode_instances.empty();
  }
  if (!prefills)
    return "no node has a prefill group";
  if (!decodes)
    return "no node has a decode instance";
  return std::nullopt;
}

cluster::topology with_long_runs(cluster::topology all) {
  all.policy.steps_max = steps_max;
  return all;
}

result<replayed, std::string> replay(const cluster::topology& all,
                                     const model_outline& of,
                                     workload::request_source& trace,
                                     std::uint64_t seed,
                                     std::shared_ptr<spdlog::logger> log,
                                     const progress_ear& told, rt::journal& record) {
  auto clients
    = std::make_shared<trace_clients>(of.layout.block_tokens, of.info.vocabulary);
  virtual_cluster cluster{all, of, clients, seed, std::move(log), record};
  cluster.run_until(start_up);
  const auto began = cluster.now();
  std::size_t sent = 0;
  for (;;) {
    auto got = trace.next();
    if (!got)
      return failure(workload::to_string(got.error()));
    if (!*got)
      break;
    cluster.run_until(began + (*got)->arrival);
    clients->send(cluster.door(), **got, cluster.now());
    told(++sent, cluster.now() - began);
  }
  while (clients->open() > 0 && cluster.run_to_next(cluster.now() + patience))
    told(sent, cluster.now() - began);
  return replayed{clients->outcomes(began), cluster.now() - began};
}

} // namespace perigee::app
