// The settings of what is modelled: a model, hardware, and the network between.

#include "actors/cluster/setting_forms.hpp"
#include "actors/cluster/settings.hpp"

namespace perigee::cluster {

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
    both.push_back(
      {"prefill_spread_percent", &s::prefill_spread_percent, between{0, 100},
       "How much prefills of one shape differ: their standard deviation, as a share "
       "of what they cost on average."});
    both.push_back({"decode_spread_percent", &s::decode_spread_percent, between{0, 100},
                    "The same, of decode steps."});
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
    {"transport", &s::transport, one_of{{"", "shm", "rdma", "tcp"}},
     "Between nodes that are processes: what KV goes by, either way. Empty: the best "
     "that both have."},
    {"gib_per_s", &s::gib_per_s, any_cost,
     "Its bandwidth. 0: no limit. Between nodes that are processes: the most that each "
     "of the two has moved `from` one `to` the other."},
    {"latency_us", &s::latency_us, any_cost,
     "What a movement over it takes in addition, if it is modelled."},
  };
  return all;
}

template <>
const std::vector<setting<event_settings>>& settings_of() {
  using s = event_settings;
  constexpr between seconds{0, 1e8};
  static const std::vector<setting<s>> all{
    {"at_s", &s::at_s, seconds, "When it begins, in seconds of the trace."},
    {"what", &s::what, one_of{{"kill", "slow", "slow_link", "cut_link", "fill"}},
     "What happens: actors end, engines take longer, a link is slower or carries "
     "nothing, or a shard has no room. Must be set."},
    {"node", &s::node, a_name_or_empty,
     "Whose actors, engines, network card or shard it is."},
    {"actor", &s::actor,
     one_of{{"", "gateway", "rejector", "conductor", "prefill_group", "decode_instance",
             "coupled_instance", "cache_shard", "transfer"}},
     "The one of the node's actors that is killed. Empty: all of them are."},
    {"index", &s::index, between{0, 63}, "Which of several, where a node has such."},
    {"from", &s::from, a_name_or_empty,
     "In place of `node`: of a link that is slow or cut, what goes from this node..."},
    {"to", &s::to, a_name_or_empty, "... to that one. The way back is another link."},
    {"for_s", &s::for_s, seconds,
     "How long it lasts: then actors are started again, engines and links are as fast "
     "as before, the shard has its room back. 0: to the end; but one actor that is "
     "killed is started again at once, as any that dies."},
    {"factor", &s::factor, between{1, 1e6},
     "How many times as long slow engines take, and movements over a slow link."},
  };
  return all;
}

} // namespace perigee::cluster
