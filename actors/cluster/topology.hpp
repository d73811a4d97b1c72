/// \file
/// topology: what a cluster is made of, as plain values. What each setting means stands
/// in settings_table.cpp, once; docs/topology.md is made from there.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace perigee::cluster {

/// Written as "2GiB".
struct byte_size {
  std::uint64_t bytes = 0;
  auto operator<=>(const byte_size&) const = default;
};

namespace literals {
constexpr byte_size operator""_KiB(unsigned long long n) {
  return {n << 10};
}
constexpr byte_size operator""_MiB(unsigned long long n) {
  return {n << 20};
}
constexpr byte_size operator""_GiB(unsigned long long n) {
  return {n << 30};
}
} // namespace literals

using namespace literals;
using count = std::uint64_t;
using std::chrono::milliseconds;

struct cluster_settings {
  std::string name = "perigee";
  std::string listen = "127.0.0.1:8000";
  std::string control; ///< A node's name; empty: the first node's.
  milliseconds drain_limit{10'000};
  milliseconds lease_limit{10'000};
  milliseconds transfer_limit{5'000};
  milliseconds engine_limit{300'000};
  count respawns_max = 8;
  bool operator==(const cluster_settings&) const = default;
};

struct model_settings {
  std::string path;
  std::string name;
  count block_tokens = 16;
  std::string chat_template = "auto";
  std::string kv_type = "f16";
  count context_tokens_max = 0;
  bool operator==(const model_settings&) const = default;
};

/// Of the KV of a model that is modelled.
struct shape_settings {
  count layers = 32;
  count kv_heads = 8;
  count head_dim = 128;
  bool operator==(const shape_settings&) const = default;
};

struct slo_settings {
  milliseconds ttft{30'000};
  milliseconds tbt{1'000};
  bool operator==(const slo_settings&) const = default;
};

struct policy_settings {
  std::string placement = "kvcache_centric";
  std::string admission = "early_rejection_predicted";
  std::string eviction = "lru";
  double kvcache_balancing_threshold = 4.0;
  double load_max = 1.0;
  count prefill_chunk = 256;
  bool layer_wise = true;
  count steps_max = 1;
  bool operator==(const policy_settings&) const = default;
};

struct limit_settings {
  count requests_open_max = 1024;
  count connections_max = 4096;
  byte_size header_bytes_max = 16_KiB;
  byte_size body_bytes_max = 16_MiB;
  milliseconds header_limit{10'000};
  milliseconds body_limit{30'000};
  milliseconds write_limit{30'000};
  milliseconds idle_limit{75'000};
  milliseconds request_limit{600'000};
  bool operator==(const limit_settings&) const = default;
};

struct http_settings {
  std::vector<std::string> api_keys;
  std::vector<std::string> cors_origins;
  bool operator==(const http_settings&) const = default;
};

/// Between processes, where a cluster has several.
struct network_settings {
  std::string tls; ///< The folder of certificates and keys; empty: no TLS.
  bool insecure = false;
  milliseconds heartbeat{500};
  milliseconds silence_limit{3'000};
  bool operator==(const network_settings&) const = default;
};

/// What a batch costs: of hardware that is modelled, or as measured here.
///
/// Prefill of n tokens behind p cached ones takes
/// `prefill_fixed_ms + prefill_token_us * n + prefill_pair_ns * ((p + n)^2 - p^2)`;
/// a decode step of b sequences with k tokens of KV in all takes
/// `decode_fixed_ms + decode_sequence_us * b + decode_kv_token_ns * k`.
struct cost_settings {
  double prefill_fixed_ms = 0;
  double prefill_token_us = 0;
  double prefill_pair_ns = 0;
  double decode_fixed_ms = 0;
  double decode_sequence_us = 0;
  double decode_kv_token_ns = 0;
  double transfer_fixed_us = 0;
  double transfer_gib_per_s = 0;
  bool operator==(const cost_settings&) const = default;
};

/// What stands in for a node: what its engines cost, and how its memory is connected.
struct hardware_settings : cost_settings {
  double prefill_spread_percent = 0;
  double decode_spread_percent = 0;
  double load_gib_per_s = 0;
  double store_gib_per_s = 0;
  double ssd_read_gib_per_s = 0;
  double ssd_write_gib_per_s = 0;
  double ssd_latency_us = 100;
  count ssd_depth = 32;
  bool operator==(const hardware_settings&) const = default;
};

/// The network between modelled nodes.
struct fabric_settings {
  double nic_gib_per_s = 0;
  double core_gib_per_s = 0;
  double latency_us = 0;
  bool operator==(const fabric_settings&) const = default;
};

/// One node's connection to the fabric; or what lies between two. Of real nodes: what
/// moves KV between them, and how fast at most.
struct link_settings {
  std::string node;
  std::string from;
  std::string to;
  std::string transport; ///< Between real nodes; empty: the best that both have.
  double gib_per_s = 0;
  double latency_us = 0;
  bool operator==(const link_settings&) const = default;
};

/// Something that goes wrong in a replay, and when it is well again.
struct event_settings {
  double at_s = 0; ///< From the trace's beginning.
  std::string what;
  std::string node;
  std::string actor; ///< Of the node. Empty: all of them.
  count index = 0;   ///< Of several such actors.
  std::string from;
  std::string to;
  double for_s = 0; ///< 0: it is not undone; one actor is started again by the cluster.
  double factor = 2;
  bool operator==(const event_settings&) const = default;
};

struct ssd_settings {
  std::string path; ///< Nothing is there if the cluster is modelled.
  byte_size size = 16_GiB;
  bool operator==(const ssd_settings&) const = default;
};

struct cache_shard_settings {
  byte_size dram = 1_GiB;
  std::optional<ssd_settings> ssd = std::nullopt;
  bool operator==(const cache_shard_settings&) const = default;
};

struct prefill_group_settings {
  count stages = 1;
  std::string engine = "cpu";
  std::string hardware; ///< Of a modelled engine.
  count threads = 0;    ///< 0: as many as the machine has cores.
  byte_size arena = 256_MiB;
  bool operator==(const prefill_group_settings&) const = default;
};

struct decode_instance_settings {
  std::string engine = "cpu";
  std::string hardware; ///< Of a modelled engine.
  count threads = 0;    ///< 0: as many as the machine has cores.
  byte_size arena = 256_MiB;
  count batch_max = 64;
  bool operator==(const decode_instance_settings&) const = default;
};

struct coupled_instance_settings {
  std::string engine = "cpu";
  std::string hardware; ///< Of a modelled engine.
  count threads = 0;    ///< 0: as many as the machine has cores.
  byte_size arena = 256_MiB;
  std::string scheduler = "chunked";
  count token_budget = 2048;
  count sequences_max = 256;
  bool prefix_cache = true;
  bool operator==(const coupled_instance_settings&) const = default;
};

struct node_settings {
  std::string name = "n0";
  std::string address; ///< Where other processes reach it; empty: nowhere.
  std::string key;     ///< The public half of what it proves its name with.
  std::vector<std::string> rdma_devices; ///< In the fabric's order; empty: all.
  bool operator==(const node_settings&) const = default;
};

struct node : node_settings {
  std::optional<cache_shard_settings> cache_shard; ///< Set if anything runs here.
  std::vector<prefill_group_settings> prefill_groups;
  std::vector<decode_instance_settings> decode_instances;
  std::vector<coupled_instance_settings> coupled_instances;
  bool operator==(const node&) const = default;
};

struct topology {
  cluster_settings cluster;
  model_settings model;
  slo_settings slo;
  policy_settings policy;
  limit_settings limits;
  http_settings http;
  network_settings network;
  fabric_settings fabric;
  std::optional<shape_settings> model_shape; ///< In place of the file's.
  std::optional<cost_settings> cost_model;   ///< As measured by `perigee calibrate`.
  std::map<std::string, hardware_settings> hardware; ///< By the name that engines name.
  std::vector<node> nodes;                           ///< Each once, counts written out.
  std::vector<link_settings> links;
  std::vector<event_settings> events; ///< Heeded by replays alone.
  bool operator==(const topology&) const = default;
};

/// Whether what serves in it prefills and decodes on the same engines.
bool is_coupled(const topology& all);

/// One node that has all: what `perigee serve model.gguf` runs.
topology laptop(const std::string& model_path);

} // namespace perigee::cluster
