#include "apps/perigee/calibration.hpp"
#include "apps/perigee/cluster_parts.hpp"
#include "apps/perigee/command.hpp"
#include "apps/perigee/journal_keeper.hpp"
#include "apps/perigee/logging.hpp"
#include "apps/perigee/model.hpp"
#include "apps/perigee/node_bell.hpp"
#include "apps/perigee/processes.hpp"
#include "apps/perigee/serving.hpp"
#include "apps/perigee/signals.hpp"
#include "apps/perigee/topology_source.hpp"

#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

struct serve_arguments {
  topology_source topology;
  journal_options journal;
  std::string name;          ///< Of one node. Empty: all of them.
  bool in_processes = false; ///< Each of them in one of its own.
};

exit_code say(exit_code code, const std::string& why) {
  std::fprintf(stderr, "perigee: %s\n", why.c_str());
  return code;
}

/// The topology's cost model; a modelled engine's own; or one that is measured now.
result<conductor::cost_model, std::string>
find_costs(const cluster::topology& all, const model& of, spdlog::logger& log) {
  if (auto known = known_costs(all, of))
    return *known;
  log.info("calibrating hint=\"perigee calibrate measures better, and once for all\"");
  auto measured = calibrate_engines(of, all, effort::quick);
  if (!measured)
    return failure(measured.error());
  log.info("calibrated prefill_token_us={} decode_fixed_ms={} decode_sequence_us={}",
           measured->prefill_token_us, measured->decode_fixed_ms,
           measured->decode_sequence_us);
  return to_cost_model(*measured, of);
}

/// Where nodes are processes. One that cannot be rung for is drained by a signal.
std::unique_ptr<node_bell> hang_bell(const std::string& name,
                                     const cluster::topology& all,
                                     std::function<void()> rung, spdlog::logger& log) {
  if (name.empty())
    return nullptr;
  auto bell = node_bell::hang(all.cluster.name, name, std::move(rung));
  if (bell)
    return std::move(*bell);
  log.warn("drain_by_signal_alone why=\"{}\"", bell.error());
  return nullptr;
}

/// Returns when all has ended; with a sentence if nobody had wished that.
result<void, std::string> serve_until_told(serving& cluster,
                                           const cluster::topology& all,
                                           const std::function<void()>& drain,
                                           spdlog::logger& log) {
  signal_ear ear{drain};
  auto ready = cluster.wait_until_ready();
  if (!ready)
    return failure(ready.error());
  log.info("serving url=http://{} nodes={}", cluster.address(), all.nodes.size());
  if (!cluster.wait())
    return failure(std::string{"the cluster's actor has died"});
  return {};
}

/// As somebody would start them by hand.
std::vector<node_process> processes_of(const serve_arguments& how,
                                       const cluster::topology& all,
                                       const session& line) {
  std::vector<node_process> started;
  for (const auto& node : all.nodes) {
    auto& one = started.emplace_back(node_process{node.name, {}});
    one.arguments
      = {"--log-level", line.log_level, "node", how.topology.path, "--name", node.name};
    for (const auto& setting : how.topology.settings) {
      one.arguments.emplace_back("--set");
      one.arguments.push_back(setting);
    }
    add_journal_arguments(one.arguments, how.journal);
  }
  return started;
}

exit_code run_processes(const serve_arguments& how, const cluster::topology& all,
                        const session& line) {
  for (const auto& node : all.nodes)
    if (auto found = find_node(all, node.name); !found)
      return say(exit_code::misused, found.error());
  signals_held held;
  auto log = make_log(line.log_level);
  cluster::respawn_limits limits;
  limits.attempts_max = all.cluster.respawns_max;
  processes nodes{processes_of(how, all, line), limits, log};
  signal_ear ear{[&] {
    log->info("draining limit_ms={} hint=\"a second signal ends at once\"",
              all.cluster.drain_limit.count());
    nodes.end();
  }};
  auto ended = nodes.wait();
  return ended ? exit_code::good : say(exit_code::failed, ended.error());
}

exit_code run(const serve_arguments& how, const session& all) {
  auto topology = load(how.topology);
  if (!topology)
    return exit_code::misused;
  if (how.in_processes)
    return run_processes(how, *topology, all);
  if (!topology->events.empty())
    return say(exit_code::misused, how.topology.path
                                     + " has events: only perigee replay heeds them, "
                                       "expected none");
  std::optional<node_index> only;
  if (!how.name.empty()) {
    auto found = find_node(*topology, how.name);
    if (!found)
      return say(exit_code::misused, found.error());
    only = *found;
  }
  signals_held held; // before any thread is started: none may take them
  auto log = make_log(all.log_level);
  auto loaded = load_model(*topology, *log);
  if (!loaded)
    return say(exit_code::failed, loaded.error());
  if (!only && loaded->weights && !topology->links.empty())
    log->warn("links_without_effect hint=\"nodes of one process share its memory\"");
  log->info("model_loaded name=\"{}\" architecture={} layers={} context_tokens={}",
            loaded->info.name, loaded->info.architecture, loaded->info.layers,
            context_tokens(*topology, *loaded));
  auto costs = find_costs(*topology, *loaded, *log);
  if (!costs)
    return say(exit_code::failed, costs.error());
  auto cluster = serving::start({*topology, *loaded, *costs, log, how.journal, only});
  if (!cluster)
    return say(exit_code::failed, cluster.error());
  auto drain = [&] {
    log->info("draining limit_ms={} hint=\"a second signal ends at once\"",
              topology->cluster.drain_limit.count());
    (*cluster)->drain();
  };
  auto bell = hang_bell(how.name, *topology, drain, *log);
  auto ended = serve_until_told(**cluster, *topology, drain, *log);
  if (bell)
    bell->mute();
  cluster->reset(); // and all it has to say
  log->info("ended");
  return ended ? exit_code::good : say(exit_code::failed, ended.error());
}

} // namespace

void add_serve(CLI::App& to, session& all) {
  auto how = std::make_shared<serve_arguments>();
  auto* serve
    = to.add_subcommand("serve", "Serve a model over HTTP, as a topology describes it");
  serve->footer(
    "SIGTERM and SIGINT take no more requests, let the open ones end within "
    "drain_limit_ms, and end. A second one ends at once.");
  add_topology_arguments(*serve, how->topology);
  serve->add_flag("--processes", how->in_processes,
                  "A process for each node, as perigee node runs it; who dies is "
                  "started again");
  add_journal_options(*serve, how->journal);
  serve->callback([how, &all] { all.left = run(*how, all); });
}

void add_node(CLI::App& to, session& all) {
  auto how = std::make_shared<serve_arguments>();
  auto* node = to.add_subcommand(
    "node",
    "Run one node of a cluster of several processes, each on its host or all on "
    "one");
  node->footer("SIGTERM, SIGINT and perigee drain have it finish what it has, take "
               "nothing new, and end. Nodes find each other by their addresses in the "
               "topology, in any order "
               "of start. Clients ask the control node, at cluster.listen; every other "
               "node has /metrics and /live at its address, two ports on.");
  add_topology_arguments(*node, how->topology);
  node->add_option("--name", how->name, "Which node of the topology this is")
    ->required();
  add_journal_options(*node, how->journal);
  node->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
