/// \file
/// connector: the threads that connect a process to other nodes.
#pragma once

#include "actors/cluster/dial_list.hpp"
#include "actors/cluster/introductions.hpp"
#include "actors/runtime/doorway.hpp"
#include "actors/runtime/network.hpp"

#include <string>
#include <thread>
#include <vector>

namespace perigee::cluster {

/// Where a node of the cluster receives others.
struct node_address {
  node_index which{};
  std::string address;
  std::uint16_t port = 0;
};

/// Connects to each node as often as the cluster's actor wishes, and tells it Found. A
/// thread for each: one that does not answer holds up no other.
class connector {
public:
  /// `network` outlives this.
  connector(const rt::world& in, const cluster_actor& whom,
            std::shared_ptr<dial_list> list, rt::network& network,
            std::vector<node_address> nodes);

  /// Waits for connections that are being tried: some seconds, at most.
  ~connector();
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;

private:
  void serve(const node_address& to, rt::doorway& door);
  void connect(const node_address& to, rt::doorway& door);

  const node_actor whom_;
  const std::shared_ptr<dial_list> list_;
  rt::network& network_;
  const std::vector<node_address> nodes_;
  std::vector<std::unique_ptr<rt::doorway>> doors_;
  std::vector<std::thread> threads_;
};

} // namespace perigee::cluster
