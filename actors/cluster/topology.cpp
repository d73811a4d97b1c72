#include "actors/cluster/topology.hpp"

#include <algorithm>

namespace perigee::cluster {

bool is_coupled(const topology& all) {
  return std::any_of(all.nodes.begin(), all.nodes.end(),
                     [](const node& one) { return !one.coupled_instances.empty(); });
}

topology laptop(const std::string& model_path) {
  topology all;
  all.cluster.name = "laptop";
  all.cluster.control = "n0";
  all.model.path = model_path;
  node one;
  one.name = "n0";
  one.cache_shard.emplace();
  one.prefill_groups.emplace_back();
  one.decode_instances.emplace_back();
  all.nodes.push_back(one);
  return all;
}

} // namespace perigee::cluster
