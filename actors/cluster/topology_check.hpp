/// \file
/// What a topology must be as a whole, each of its values being right by itself.
#pragma once

#include "actors/cluster/topology.hpp"

#include <optional>
#include <string>
#include <vector>

namespace perigee::cluster {

struct contradiction {
  std::optional<std::size_t> node; ///< Index of the node whose setting it is.
  std::string key;                 ///< There, or in the topology.
  std::string found;
  std::string expected;
  std::string nearest = {};
};

/// All that does not fit, given the `engines` that the program has. Pure.
std::vector<contradiction> contradictions(const topology& all,
                                          const std::vector<std::string>& engines);

} // namespace perigee::cluster
