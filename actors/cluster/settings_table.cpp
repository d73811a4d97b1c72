// Every setting there is: here, and in the two files beside it. The reader, its errors,
// `perigee init` and docs/topology.md are all made from here.

#include "actors/cluster/setting_forms.hpp"
#include "actors/cluster/settings.hpp"

namespace perigee::cluster {

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
    {"layer_wise",
     &s::layer_wise,
     {},
     "A layer is computed once its reused KV is there, and sent on while later layers "
     "compute. false: a prompt's KV is loaded, then all is computed, then stored."},
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
const std::vector<setting<network_settings>>& settings_of() {
  using s = network_settings;
  static const std::vector<setting<s>> all{
    {"tls",
     &s::tls,
     {},
     "The folder that `perigee certs` has filled: each node proves itself to each "
     "other, "
     "and all between them is encrypted. Empty: neither, and only on one machine."},
    {"insecure",
     &s::insecure,
     {},
     "Allow other machines without TLS: for networks where nobody else is."},
    {"heartbeat_ms", &s::heartbeat, between{10, 60'000},
     "How often nodes with nothing else to say let each other know that they live."},
    {"silence_limit_ms", &s::silence_limit, between{100, 600'000},
     "A node that was not heard of for so long is dead. At least twice heartbeat_ms."},
  };
  return all;
}

} // namespace perigee::cluster
