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

} // namespace perigee::app
