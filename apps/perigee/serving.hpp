/// \file
/// serving: a whole cluster, or one node of it, in this process, with its HTTP side.
#pragma once

#include "actors/cluster/cluster.hpp"
#include "actors/cluster/inventory.hpp"
#include "actors/gateway/http_link.hpp"
#include "actors/runtime/doorway.hpp"
#include "apps/perigee/journal_keeper.hpp"
#include "apps/perigee/model.hpp"
#include "apps/perigee/node_side.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace perigee::app {

/// Prompt and answer together, at most: what model, topology and arenas allow. 0 if an
/// arena holds not even a block.
std::uint32_t context_tokens(const cluster::topology& all, const model& of);

/// CAF's settings for a process that serves: all of a cluster, or the node `only`.
class serving_config : public rt::system_config {
public:
  serving_config(const cluster::topology& all, std::optional<node_index> only);
};

/// What a process is to serve, and how.
struct serving_order {
  const cluster::topology& all;
  const model& of;
  conductor::cost_model cost;
  std::shared_ptr<spdlog::logger> log;
  const journal_options& journal;
  std::optional<node_index> only{}; ///< One node. Nothing: all of them.
};

/// Everything that `perigee serve` or `perigee node` starts, in the order in which it
/// must end.
///
/// Only who has the control node has a gateway. Elsewhere the HTTP side says how the
/// node is, at the node's own address.
class serving {
public:
  /// Listens and starts all actors. Fails with a sentence.
  static result<std::unique_ptr<serving>, std::string> start(const serving_order& what);

  ~serving();

  /// Where it listens, such as "127.0.0.1:8000".
  std::string address() const;

  /// Returns when a request that comes can be served, or drain() was called. Fails with
  /// a sentence if it will not come to that.
  result<void, std::string> wait_until_ready();

  /// Has the cluster take no more requests, end those that are open, and then itself.
  /// From any one thread.
  void drain();

  /// Returns when all actors have ended. False if nobody had drained it.
  bool wait();

private:
  serving(const serving_order& what, std::uint64_t life,
          std::unique_ptr<journal_keeper> keeper);

  result<void, std::string> open(conductor::cost_model cost);
  gateway::served_model served() const;
  gateway::front_settings front() const;
  gateway::http_settings http() const;
  bool is_ready() const;
  bool has_gateway() const;
  std::string http_address() const;

  const cluster::topology all_;
  const model model_;
  const std::optional<node_index> only_;
  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<journal_keeper> keeper_;
  serving_config config_;
  caf::actor_system system_;
  rt::roster roster_;
  rt::world world_;
  cluster::probes counts_;
  std::shared_ptr<cluster::probe> cluster_counts_ = std::make_shared<cluster::probe>();
  std::shared_ptr<gateway::http_link> link_;
  std::unique_ptr<rt::doorway> door_;
  std::unique_ptr<node_side> side_; // if it is one node of several
  cluster_actor cluster_;
  std::atomic<bool> drained_{false};
};

} // namespace perigee::app
