/// \file
/// metrics: what all actors count, in Prometheus' text format.
#pragma once

#include "actors/cluster/inventory.hpp"
#include "actors/cluster/probe.hpp"
#include "actors/gateway/http_probe.hpp"

#include <string>

namespace perigee::app {

/// Whose numbers are shown. May be read while they change.
struct metric_sources {
  const cluster::probes& actors;
  const cluster::probe& cluster;
  const gateway::http_probe& http;
  std::string model;
  std::uint64_t block_tokens = 0;
};

/// Under `vllm:` what dashboards for vLLM look for, labelled with the model's name;
/// under `perigee_ROLE_` all that our probes have, labelled with node and index.
std::string metrics_text(const metric_sources& from);

} // namespace perigee::app
