/// \file
/// node_side: what a process has beside its actors when it is one node of several.
#pragma once

#include "actors/cluster/connector.hpp"
#include "actors/cluster/inventory.hpp"
#include "actors/cluster/neighbours.hpp"
#include "apps/perigee/model.hpp"
#include "transport/shm/memory.hpp"

#include <memory>
#include <optional>
#include <string>

namespace perigee::app {

/// An address of a node's and what lies beside it.
struct node_ports {
  std::string address; ///< An IP address; without brackets.
  std::uint16_t control = 0;

  std::uint16_t payload() const {
    return static_cast<std::uint16_t>(control + 1);
  }
  std::uint16_t metrics() const {
    return static_cast<std::uint16_t>(control + 2);
  }
};

node_ports ports_of(const cluster::node& one);

/// Where `all` has the node `name`; or a sentence that says what there is. Also refuses
/// topologies in which nodes could not find, or must not trust, each other.
result<node_index, std::string> find_node(const cluster::topology& all,
                                          const std::string& name);

/// How systems of such processes talk.
rt::network_options network_of(const cluster::topology& all, node_index self);

/// Connects a process to the other nodes, and lets them connect to it.
class node_side {
public:
  /// `all` outlives this. Fails with a sentence.
  static result<std::unique_ptr<node_side>, std::string>
  make(const cluster::topology& all, const model& of, node_index self,
       std::uint64_t life);

  /// For the options of the cluster's actor.
  cluster::neighbourhood neighbourhood() const;

  /// Memory for arenas, which other processes of the host may see.
  std::function<std::shared_ptr<std::byte>(std::size_t bytes)> allocator() const;

  /// KV within the process, and to and from others. Says in `log` which transports
  /// cannot be had.
  transfer::make_paths paths(std::shared_ptr<spdlog::logger> log) const;

  /// Lets others in, and goes to them. Fails with a sentence: the port is taken.
  result<void, std::string> begin(const rt::world& in, const cluster_actor& whom);

  /// Stops going to them.
  void end();

private:
  node_side(const cluster::topology& all, node_index self, cluster::node_card card,
            std::shared_ptr<cluster::credentials> keys);

  const cluster::topology& all_;
  node_index self_;
  cluster::node_card card_;
  std::shared_ptr<cluster::credentials> keys_;
  std::shared_ptr<cluster::dial_list> list_ = std::make_shared<cluster::dial_list>();
  std::shared_ptr<transport::shm::memory> memory_
    = std::make_shared<transport::shm::memory>();
  std::optional<rt::network> network_;
  std::optional<cluster::connector> connector_;
};

} // namespace perigee::app
