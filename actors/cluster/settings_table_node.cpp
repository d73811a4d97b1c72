// The settings of a node, and of who works there.

#include "actors/cluster/setting_forms.hpp"
#include "actors/cluster/settings.hpp"

namespace perigee::cluster {
namespace {

// What all who own an engine have.

template <class Owner>
setting<Owner> what_computes() {
  return {"engine", &Owner::engine, a_name, "What computes: \"cpu\", or \"modelled\"."};
}

template <class Owner>
setting<Owner> what_it_stands_for() {
  return {"hardware", &Owner::hardware, a_name_or_empty,
          "Which [hardware.NAME] a modelled engine stands for."};
}

template <class Owner>
setting<Owner> threads_of() {
  return {"threads", &Owner::threads, between{0, 1024},
          "Threads that compute. 0: as many as the machine has cores."};
}

} // namespace

template <>
const std::vector<setting<node_settings>>& settings_of() {
  using s = node_settings;
  static const std::vector<setting<s>> all{
    {"name", &s::name, a_name,
     "What the node is called. With `count = 3`, \"n\" makes n0, n1 and n2."},
    {"address", &s::address, an_address_or_empty,
     "Where other processes of the cluster reach the node. KV goes over the next port, "
     "and its metrics are at the one after that."},
    {"key", &s::key, a_public_key,
     "What the node proves its name with: the public half, as `perigee certs` prints "
     "it."},
    {"rdma_devices",
     &s::rdma_devices,
     {},
     "The RDMA devices that KV goes over, as in `[\"mlx5_0\", \"mlx5_1\"]`; none: all "
     "that the machine has. The first of one node is connected with the first of "
     "another, and so on: they stand in the order of the networks that they are on."},
  };
  return all;
}

template <>
const std::vector<setting<cache_shard_settings>>& settings_of() {
  using s = cache_shard_settings;
  static const std::vector<setting<s>> all{
    {"dram", &s::dram, between{1 * MiB, 64 * TiB}, "Memory for cached KV."},
  };
  return all;
}

template <>
const std::vector<setting<ssd_settings>>& settings_of() {
  using s = ssd_settings;
  static const std::vector<setting<s>> all{
    {"path", &s::path, {}, "The folder of its files. A modelled one has none."},
    {"size", &s::size, between{1 * MiB, 1024 * TiB}, "Room for cached KV."},
  };
  return all;
}

template <>
const std::vector<setting<prefill_group_settings>>& settings_of() {
  using s = prefill_group_settings;
  static const std::vector<setting<s>> all{
    {"stages", &s::stages, between{1, 1}, "Engines that work as one pipeline."},
    what_computes<s>(),
    what_it_stands_for<s>(),
    threads_of<s>(),
    {"arena", &s::arena, between{1 * MiB, 64 * TiB},
     "Memory for the KV of the prompts being computed. The longest must fit."},
  };
  return all;
}

template <>
const std::vector<setting<decode_instance_settings>>& settings_of() {
  using s = decode_instance_settings;
  static const std::vector<setting<s>> all{
    what_computes<s>(),
    what_it_stands_for<s>(),
    threads_of<s>(),
    {"arena", &s::arena, between{1 * MiB, 64 * TiB},
     "Memory for the KV of the sequences being decoded. When it is full, sequences "
     "wait "
     "in the cache shard."},
    {"batch_max", &s::batch_max, between{1, 4096}, "Sequences decoded in one step."},
  };
  return all;
}

template <>
const std::vector<setting<coupled_instance_settings>>& settings_of() {
  using s = coupled_instance_settings;
  static const std::vector<setting<s>> all{
    what_computes<s>(),
    what_it_stands_for<s>(),
    threads_of<s>(),
    {"arena", &s::arena, between{1 * MiB, 64 * TiB},
     "Memory for the KV of all sequences. When it is full, the youngest make room and "
     "are computed again."},
    {"scheduler", &s::scheduler, one_of{{"prefill_first", "chunked"}},
     "What a batch is made of: whole prompts before anything else, or who decodes "
     "first and parts of prompts beside them."},
    {"token_budget", &s::token_budget, between{2, 131072},
     "Tokens that one batch feeds. With prefill_first, a prompt that is longer takes "
     "several."},
    {"sequences_max", &s::sequences_max, between{1, 4096},
     "Sequences that are served at once."},
    {"prefix_cache",
     &s::prefix_cache,
     {},
     "Keep what was computed in the arena, for prompts that begin alike."},
  };
  return all;
}

} // namespace perigee::cluster
