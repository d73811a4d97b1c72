// Every setting there is. The reader, its errors, `perigee init` and docs/topology.md
// are all made from here.

#include "actors/cluster/settings.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace perigee::cluster {
namespace {

constexpr double KiB = 1024;
constexpr double MiB = 1024 * KiB;
constexpr double TiB = 1024 * 1024 * MiB;
constexpr double day_ms = 24.0 * 3600 * 1000;
constexpr double cost_max = 1e9;

constexpr std::size_t name_length_max = 32;

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= name_length_max
         && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
              == std::string::npos;
}

bool is_name_or_empty(const std::string& text) {
  return text.empty() || is_name(text);
}

bool is_filled(const std::string& text) {
  return !text.empty();
}

bool is_port(const std::string& text) {
  return !text.empty() && text.size() <= 5
         && text.find_first_not_of("0123456789") == std::string::npos
         && std::stoul(text) <= 65535;
}

/// "127.0.0.1:8000", "[::1]:8000", "host:0".
bool is_host_and_port(const std::string& text) {
  auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || !is_port(text.substr(colon + 1)))
    return false;
  auto host = text.substr(0, colon);
  if (host.front() == '[')
    return host.size() > 2 && host.back() == ']';
  return host.find_first_of(":/[] ") == std::string::npos;
}

bool is_ip_address(const std::string& text) {
  in6_addr any{};
  return inet_pton(AF_INET, text.c_str(), &any) == 1
         || inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

/// As the former, of an interface of this machine.
bool is_address_and_port(const std::string& text) {
  auto colon = text.rfind(':');
  if (!is_host_and_port(text))
    return false;
  auto host = text.substr(0, colon);
  return is_ip_address(host.front() == '[' ? host.substr(1, host.size() - 2) : host);
}

bool is_host_and_port_or_empty(const std::string& text) {
  return text.empty() || is_host_and_port(text);
}

const of_form a_name{"a name of at most 32 letters, digits, \"-\" and \"_\"", is_name};
const of_form a_name_or_empty{
  "a name of at most 32 letters, digits, \"-\" and \"_\", or an empty text",
  is_name_or_empty};
const of_form a_path{"a path", is_filled};
const of_form an_address{
  "an IP address and a port, such as \"127.0.0.1:8000\" or \"[::]:8000\"",
  is_address_and_port};
const of_form an_address_or_empty{
  "a host and a port, such as \"127.0.0.1:7400\", or an empty text",
  is_host_and_port_or_empty};
const between any_time{0, day_ms};
const between some_time{1, day_ms};
const between any_cost{0, cost_max};

} // namespace

template <>
const std::vector<setting<cluster_settings>>& settings_of() {
  using s = cluster_settings;
  static const std::vector<setting<s>> all{
    {"name", &s::name, a_name, "What the cluster is called in logs and metrics."},
    {"listen", &s::listen, an_address,
     "Where the gateway listens for HTTP. Port 0 takes a free one."},
    {"control", &s::control, a_name_or_empty,
     "The node where gateway, rejector and conductor run. Empty: the first node."},
    {"drain_limit_ms", &s::drain_limit, any_time,
     "How long open requests may go on after SIGTERM. A second SIGTERM ends them."},
    {"lease_limit_ms", &s::lease_limit, some_time,
     "How long a reader may hold a cached block before it must ask again."},
    {"transfer_limit_ms", &s::transfer_limit, some_time,
     "How long one movement of KV may take before it fails, the engine's time aside."},
    {"engine_limit_ms", &s::engine_limit, some_time,
     "How long an engine may take over one chunk of prompts, or one run of decode "
     "steps, "
     "before it is given up and started anew. Modelled time does not count."},
    {"respawns_max", &s::respawns_max, between{0, 1e6},
     "How often in a row an actor that dies young is started again."},
  };
  return all;
}

template <>
const std::vector<setting<model_settings>>& settings_of() {
  using s = model_settings;
  static const std::vector<setting<s>> all{
    {"path", &s::path, a_path,
     "The GGUF file. Relative paths begin at this file's folder; from the environment "
     "or the command line, at the working directory. Must be set, unless all engines "
     "are modelled, nothing is served and there is a [model.shape]."},
    {"name", &s::name, {}, "What clients call the model. Empty: its general.name."},
    {"block_tokens", &s::block_tokens, between{16, 4096},
     "Tokens of one KV block: the unit of caching."},
    {"chat_template", &s::chat_template,
     one_of{{"auto", "chatml", "llama3", "gemma", "mistral"}},
     "How messages become a prompt. \"auto\": as the model's file says."},
    {"kv_type", &s::kv_type, one_of{{"f16", "f32"}}, "How KV is kept."},
    {"context_tokens_max", &s::context_tokens_max, between{0, 1 << 20},
     "Prompt and answer together, at most. 0: as many as model and arenas allow."},
  };
  return all;
}

template <>
const std::vector<setting<shape_settings>>& settings_of() {
  using s = shape_settings;
  static const std::vector<setting<s>> all{
    {"layers", &s::layers, between{1, 4096}, "Layers, each with KV of its own."},
    {"kv_heads", &s::kv_heads, between{1, 1024}, "Heads of K and of V, in each."},
    {"head_dim", &s::head_dim, between{1, 4096}, "Numbers of one head and token."},
  };
  return all;
}

template <>
const std::vector<setting<slo_settings>>& settings_of() {
  using s = slo_settings;
  static const std::vector<setting<s>> all{
    {"ttft_ms", &s::ttft, some_time, "Time to the first token that a client accepts."},
    {"tbt_ms", &s::tbt, some_time, "Time between tokens that a client accepts."},
  };
  return all;
}

template <>
const std::vector<setting<policy_settings>>& settings_of() {
  using s = policy_settings;
  static const std::vector<setting<s>> all{
    {"placement", &s::placement,
     one_of{
       {"random", "round_robin", "load_balance", "cache_aware", "kvcache_centric"}},
     "How the conductor chooses a prefill group for a request."},
    {"admission", &s::admission,
     one_of{{"none", "baseline", "early_rejection", "early_rejection_predicted"}},
     "How the rejector decides whom to turn away when load is high."},
    {"eviction", &s::eviction, one_of{{"lru", "lfu", "length_aware"}},
     "Which cached block goes first when a shard is full."},
    {"kvcache_balancing_threshold", &s::kvcache_balancing_threshold,
     between{1, cost_max},
     "A remote prefix is fetched if it is longer than the local one by this factor."},
    {"load_max", &s::load_max, between{0.01, 1000},
     "Turn away at this load: predicted time as a share of the objective."},
    {"prefill_chunk", &s::prefill_chunk, between{2, 65536},
     "Tokens of a prompt that are computed at once: the unit of sharing a group."},
    {"steps_max", &s::steps_max, between{1, 1024},
     "Decode steps that an engine takes before it reports. 1: live streaming."},
  };
  return all;
}

template <>
const std::vector<setting<limit_settings>>& settings_of() {
  using s = limit_settings;
  static const std::vector<setting<s>> all{
    {"requests_open_max", &s::requests_open_max, between{1, 1e6},
     "Requests being served at once. More are told to come back later."},
    {"connections_max", &s::connections_max, between{1, 1e6},
     "HTTP connections at once. More are closed."},
    {"header_bytes_max", &s::header_bytes_max, between{1 * KiB, 1 * MiB},
     "An HTTP request's header."},
    {"body_bytes_max", &s::body_bytes_max, between{1 * KiB, 64 * MiB},
     "An HTTP request's body."},
    {"header_limit_ms", &s::header_limit, some_time, "How long a header may take."},
    {"body_limit_ms", &s::body_limit, some_time, "How long a body may take."},
    {"write_limit_ms", &s::write_limit, some_time,
     "How long a client may leave what is sent to it unread."},
    {"idle_limit_ms", &s::idle_limit, some_time,
     "How long a connection may stay open between requests."},
    {"request_limit_ms", &s::request_limit, some_time,
     "How long a request may take from its arrival to its last token."},
  };
  return all;
}

template <>
const std::vector<setting<http_settings>>& settings_of() {
  using s = http_settings;
  static const std::vector<setting<s>> all{
    {"api_keys", &s::api_keys, of_form{"a key", is_filled},
     "Who may ask: \"Authorization: Bearer KEY\". Empty: anybody."},
    {"cors_origins", &s::cors_origins, of_form{"an origin", is_filled},
     "Web pages that may ask from a browser, such as \"http://localhost:3000\", or "
     "\"*\". Empty: none."},
  };
  return all;
}

template <>
const std::vector<setting<cost_settings>>& settings_of() {
  using s = cost_settings;
  static const std::vector<setting<s>> all{
    {"prefill_fixed_ms", &s::prefill_fixed_ms, any_cost, "A prefill, whatever it is."},
    {"prefill_token_us", &s::prefill_token_us, any_cost, "Each token computed."},
    {"prefill_pair_ns", &s::prefill_pair_ns, any_cost,
     "The square of the end position less the square of the begin, for attention."},
    {"decode_fixed_ms", &s::decode_fixed_ms, any_cost,
     "A decode step, whatever it is."},
    {"decode_sequence_us", &s::decode_sequence_us, any_cost, "Each sequence in it."},
    {"decode_kv_token_ns", &s::decode_kv_token_ns, any_cost,
     "Each token of KV that it reads."},
    {"transfer_fixed_us", &s::transfer_fixed_us, any_cost,
     "A movement of KV between nodes, whatever it is."},
    {"transfer_gib_per_s", &s::transfer_gib_per_s, any_cost,
     "How fast it moves then: of modelled hardware, its network card, either way. 0: "
     "takes no time."},
  };
  return all;
}

namespace {

/// Hardware has costs, and so their settings.
setting<hardware_settings> of_hardware(const setting<cost_settings>& cost) {
  setting<hardware_settings> made{cost.key, {}, cost.allowed, cost.sentence};
  std::visit([&](auto where) { made.where = where; }, cost.where);
  return made;
}

} // namespace

template <>
const std::vector<setting<hardware_settings>>& settings_of() {
  using s = hardware_settings;
  static const std::vector<setting<s>> all = [] {
    std::vector<setting<s>> both;
    for (const auto& cost : settings_of<cost_settings>())
      both.push_back(of_hardware(cost));
    both.push_back({"load_gib_per_s", &s::load_gib_per_s, any_cost,
                    "How fast KV goes from the node's memory into what computes there. "
                    "0: takes no time."});
    both.push_back({"store_gib_per_s", &s::store_gib_per_s, any_cost,
                    "The same, out of it. 0: takes no time."});
    both.push_back(
      {"ssd_read_gib_per_s", &s::ssd_read_gib_per_s, any_cost,
       "How fast the node's SSD is read. Above 0 where a cache_shard has an "
       "ssd."});
    both.push_back({"ssd_write_gib_per_s", &s::ssd_write_gib_per_s, any_cost,
                    "How fast it is written, at the same time. Likewise."});
    both.push_back({"ssd_latency_us", &s::ssd_latency_us, any_cost,
                    "What a command to it takes in addition."});
    both.push_back({"ssd_depth", &s::ssd_depth, between{1, 65536},
                    "Commands, of a block each, that it works on at once."});
    return both;
  }();
  return all;
}

template <>
const std::vector<setting<fabric_settings>>& settings_of() {
  using s = fabric_settings;
  static const std::vector<setting<s>> all{
    {"nic_gib_per_s", &s::nic_gib_per_s, any_cost,
     "Every node's network card, either way. 0: what its hardware has as "
     "transfer_gib_per_s."},
    {"core_gib_per_s", &s::core_gib_per_s, any_cost,
     "All that is under way between nodes at once. 0: no limit."},
    {"latency_us", &s::latency_us, any_cost,
     "What a movement between nodes takes in addition."},
  };
  return all;
}

template <>
const std::vector<setting<link_settings>>& settings_of() {
  using s = link_settings;
  static const std::vector<setting<s>> all{
    {"node", &s::node, a_name_or_empty,
     "Whose network card this is, in place of what [fabric] and its hardware say."},
    {"from", &s::from, a_name_or_empty,
     "In place of `node`: a further limit on what goes from this node..."},
    {"to", &s::to, a_name_or_empty, "... to that one. The way back is another link."},
    {"gib_per_s", &s::gib_per_s, any_cost, "Its bandwidth. 0: no limit."},
    {"latency_us", &s::latency_us, any_cost,
     "What a movement over it takes in addition."},
  };
  return all;
}

template <>
const std::vector<setting<node_settings>>& settings_of() {
  using s = node_settings;
  static const std::vector<setting<s>> all{
    {"name", &s::name, a_name,
     "What the node is called. With `count = 3`, \"n\" makes n0, n1 and n2."},
    {"address", &s::address, an_address_or_empty,
     "Where other processes of the cluster reach the node."},
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
    {"engine", &s::engine, a_name, "What computes: \"cpu\", or \"modelled\"."},
    {"hardware", &s::hardware, a_name_or_empty,
     "Which [hardware.NAME] a modelled engine stands for."},
    {"threads", &s::threads, between{0, 1024},
     "Threads that compute. 0: as many as the machine has cores."},
    {"arena", &s::arena, between{1 * MiB, 64 * TiB},
     "Memory for the KV of the prompts being computed. The longest must fit."},
  };
  return all;
}

template <>
const std::vector<setting<decode_instance_settings>>& settings_of() {
  using s = decode_instance_settings;
  static const std::vector<setting<s>> all{
    {"engine", &s::engine, a_name, "What computes: \"cpu\", or \"modelled\"."},
    {"hardware", &s::hardware, a_name_or_empty,
     "Which [hardware.NAME] a modelled engine stands for."},
    {"threads", &s::threads, between{0, 1024},
     "Threads that compute. 0: as many as the machine has cores."},
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
    {"engine", &s::engine, a_name, "What computes: \"cpu\", or \"modelled\"."},
    {"hardware", &s::hardware, a_name_or_empty,
     "Which [hardware.NAME] a modelled engine stands for."},
    {"threads", &s::threads, between{0, 1024},
     "Threads that compute. 0: as many as the machine has cores."},
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
