/// \file
/// cluster_shape: a topology whose nodes are counted anew.
#pragma once

#include "actors/cluster/topology.hpp"
#include "apps/perigee/compare/cluster_search.hpp"
#include "schemas/result.hpp"

#include <string>

namespace perigee::app {

/// A cluster of nodes that prefill, all alike, and nodes that decode, all alike.
class cluster_shape {
public:
  /// Of `all`, whose engines are then to stand for `hardware`, unless that is empty.
  /// Fails with a sentence if nodes of a kind differ, if one does both or neither, or
  /// if there is no such hardware.
  static result<cluster_shape, std::string> of(const cluster::topology& all,
                                               const std::string& hardware);

  /// So many of each.
  cluster::topology make(cluster_size size) const;

private:
  cluster::topology rest_;
  cluster::node prefill_;
  cluster::node decode_;
};

/// `all` with so many nodes as `count` says: "6+2" of those that prefill and decode,
/// "16" of coupled ones. Each is like its kind in `all`, whose nodes of a kind are alike.
/// Fails with a sentence.
result<cluster::topology, std::string> with_nodes(const cluster::topology& all,
                                                  const std::string& count);

} // namespace perigee::app
