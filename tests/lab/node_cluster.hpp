/// \file
/// node_cluster: a cluster whose nodes are processes, in the lab: each has a system, a
/// roster, units and neighbours of its own; messages and KV go from one to another over
/// what can fail.
#pragma once

#include "tests/lab/connection.hpp"
#include "tests/lab/payload_net.hpp"
#include "tests/lab/seeds.hpp"
#include "tests/lab/small_cluster.hpp"

#include <set>

namespace perigee::test {

struct nodes_shape {
  unsigned nodes = 3; ///< The first has gateway, rejector and conductor, too.

  /// Every node has a shard, a group and an instance. Otherwise groups and instances
  /// take turns, and the first node has neither: so all KV goes between nodes.
  bool has_all_everywhere = true;

  unsigned prefill_blocks = 64;
  unsigned decode_blocks = 64;
  unsigned shard_blocks = 256;
  std::string placement = "kvcache_centric";
  mover by = mover::threads;
};

/// One per test. Its engines are checked: KV that goes astray changes tokens.
class node_cluster {
public:
  /// All nodes have met, unless something is wrong.
  explicit node_cluster(std::uint64_t seed, nodes_shape shape = {});
  ~node_cluster();
  node_cluster(const node_cluster&) = delete;
  node_cluster& operator=(const node_cluster&) = delete;

  fleet& time() {
    return fleet_;
  }
  const payload_net& payloads() const {
    return payloads_;
  }
  const listener& clients() const {
    return *clients_;
  }

  /// Of the first node, which may be stopped.
  bool has_gateway() const {
    return nodes_[0] && clients_->gateway;
  }

  /// As of small_cluster. There is a gateway.
  std::uint64_t ask(const question& what);
  void withdraw(std::uint64_t stream);
  right_answer expected(const question& what) const {
    return right_answer_to(what, model_);
  }

  // -- faults: of any node ----------------------------------------

  bool is_up(unsigned node) const; ///< And not stopped.

  /// As SIGKILL does. It stays away until start().
  void kill(unsigned node);
  void start(unsigned node);

  /// As SIGSTOP and SIGCONT do.
  void stop(unsigned node);
  void wake(unsigned node);

  /// Ends one of its actors, which `pick`, a number from a seed, chooses; never the
  /// cluster's. Returns its role.
  std::string lose_actor(unsigned node, std::uint64_t pick);

  /// As perigee drain does: it ends by itself, and then is to be killed. Never the first.
  void drain(unsigned node);
  bool has_drained(unsigned node) const;

  // -- looking --------------------------------------------------------------------

  /// Pairs of nodes that have met, as both say.
  std::size_t pairs_met() const;
  std::size_t lines_up() const;

  /// What all nodes hold although nothing is open.
  std::vector<std::string> left_over() const;

  /// Sum of a counter over the prefill groups, or decode instances, of a node that is
  /// up.
  std::uint64_t prefilled(unsigned node) const;
  std::uint64_t decoded(unsigned node) const;

private:
  struct node;

  void begin(unsigned which, std::uint64_t life);
  cluster::means means_of(unsigned which, std::uint64_t life);
  void dial();
  void try_to_connect(unsigned from, unsigned to, fleet::nanoseconds wait);
  void connect(node& from, unsigned to);
  std::shared_ptr<connection> between(const process& one, const process& other) const;
  void watch_silence_of(unsigned which);

  template <class See>
  void for_each_connection_of(const process& one, See see);

  nodes_shape shape_;
  engine::modelled_options model_;
  cluster::topology topology_;
  std::shared_ptr<listener> clients_ = std::make_shared<listener>();
  fleet fleet_;
  std::shared_ptr<spdlog::logger> log_;
  payload_net payloads_;
  std::vector<std::uint64_t> lives_;
  std::vector<std::shared_ptr<connection>> connections_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::uint64_t streams_ = 0;
};

} // namespace perigee::test
