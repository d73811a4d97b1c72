#include "actors/cluster/topology_check.hpp"

#include "actors/cluster/bad_input.hpp"
#include "actors/cluster/event_check.hpp"
#include "actors/cluster/modelled_network.hpp"
#include "actors/cluster/settings.hpp"

#include <algorithm>
#include <set>

namespace perigee::cluster {
namespace {

constexpr auto modelled = "modelled";

using names = std::vector<std::string>;

bool holds(const names& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string listed(const names& all) {
  std::string text;
  for (const auto& one : all)
    text += (text.empty() ? "" : ", ") + as_toml(one);
  return text.empty() ? "none is there" : text;
}

class checker {
public:
  checker(const topology& all, const names& engines) : all_(all), engines_(engines) {
    for (const auto& [name, costs] : all.hardware)
      hardware_.push_back(name);
    for (const auto& one : all.nodes)
      nodes_.push_back(one.name);
  }

  std::vector<contradiction> run() {
    check_roles();
    check_control();
    check_names();
    check_network();
    for (std::size_t i = 0; i < all_.nodes.size(); ++i)
      check_engines(i);
    check_model();
    for (std::size_t i = 0; i < all_.links.size(); ++i)
      check_link(i);
    check_reality();
    if (engines_used_.contains(modelled) && engines_used_.size() > 1)
      found_.push_back({{}, "node", "", "engines that are all modelled, or none"});
    if (found_.empty()) // else there may be no such network
      found_ = event_contradictions(all_);
    return std::move(found_);
  }

private:
  void check_model() {
    const auto& shape = all_.model_shape;
    bool is_real = !engines_used_.empty() && !engines_used_.contains(modelled);
    if (all_.model.path.empty() && (!shape || is_real))
      found_.push_back({{}, "model.path", "not set", "the path of a GGUF file"});
    if (shape && is_real)
      found_.push_back({{},
                        "model.shape",
                        "",
                        "none, unless the engines are \"modelled\": others have the "
                        "file's"});
  }

  void check_roles() {
    std::size_t groups = 0, instances = 0;
    for (const auto& one : all_.nodes) {
      groups += one.prefill_groups.size();
      instances += one.decode_instances.size();
    }
    if (is_coupled(all_))
      return check_coupled();
    if (groups == 0)
      found_.push_back({{}, "node", "", "at least one prefill_group on some node"});
    if (instances == 0)
      found_.push_back({{}, "node", "", "at least one decode_instance on some node"});
  }

  void check_coupled() {
    for (std::size_t i = 0; i < all_.nodes.size(); ++i) {
      const auto& one = all_.nodes[i];
      if (one.coupled_instances.size() > 1)
        found_.push_back({i, "coupled_instance",
                          std::to_string(one.coupled_instances.size()) + " of them",
                          "one at most: each is on a node of its own"});
      for (auto [key, is_there] :
           {std::pair{"prefill_group", !one.prefill_groups.empty()},
            {"cache_shard", one.cache_shard.has_value()},
            {"decode_instance", !one.decode_instances.empty()}})
        if (is_there)
          found_.push_back(
            {i, key, "", "none in a cluster that has a coupled_instance"});
    }
    if (all_.policy.placement == "kvcache_centric")
      found_.push_back({{},
                        "policy.placement",
                        as_toml(all_.policy.placement),
                        "one of \"random\", \"round_robin\", \"load_balance\", "
                        "\"cache_aware\": a coupled_instance fetches nothing"});
  }

  void check_control() {
    const auto& control = all_.cluster.control;
    if (!all_.nodes.empty() && !holds(nodes_, control))
      found_.push_back({{},
                        "cluster.control",
                        as_toml(control),
                        "the name of a node",
                        nearest(control, nodes_)});
  }

  void check_names() {
    std::set<std::string> seen_names, seen_addresses;
    for (std::size_t i = 0; i < all_.nodes.size(); ++i) {
      const auto& one = all_.nodes[i];
      if (!seen_names.insert(one.name).second)
        found_.push_back(
          {i, "name", as_toml(one.name), "a name that no other node has"});
      if (!one.address.empty() && !seen_addresses.insert(one.address).second)
        found_.push_back(
          {i, "address", as_toml(one.address), "an address that no other node has"});
    }
  }

  void check_network() {
    const auto& how = all_.network;
    if (how.silence_limit < 2 * how.heartbeat)
      found_.push_back({{},
                        "network.silence_limit_ms",
                        std::to_string(how.silence_limit.count()),
                        "at least twice heartbeat_ms"});
  }

  void check_engines(std::size_t i) {
    const auto& one = all_.nodes[i];
    auto at = [](const char* list, std::size_t k) {
      return std::string{list} + '[' + std::to_string(k) + ']';
    };
    for (std::size_t k = 0; k < one.prefill_groups.size(); ++k)
      check_engine(i, at("prefill_group", k), one.prefill_groups[k]);
    check_disk(i);
    for (std::size_t k = 0; k < one.decode_instances.size(); ++k)
      check_engine(i, at("decode_instance", k), one.decode_instances[k]);
    for (std::size_t k = 0; k < one.coupled_instances.size(); ++k)
      check_engine(i, at("coupled_instance", k), one.coupled_instances[k]);
  }

  template <class Owner>
  void check_engine(std::size_t i, const std::string& where, const Owner& owner) {
    engines_used_.insert(owner.engine);
    if (!holds(engines_, owner.engine))
      found_.push_back({i, where + ".engine", as_toml(owner.engine),
                        "one of " + listed(engines_), nearest(owner.engine, engines_)});
    else if (owner.engine != modelled && !owner.hardware.empty())
      found_.push_back({i, where + ".hardware", as_toml(owner.hardware),
                        "no hardware, unless the engine is \"modelled\""});
    else if (owner.engine == modelled && !holds(hardware_, owner.hardware))
      found_.push_back({i, where + ".hardware", as_toml(owner.hardware),
                        "the NAME of a [hardware.NAME]: " + listed(hardware_),
                        nearest(owner.hardware, hardware_)});
  }

  /// Only a modelled one is there, as the node's hardware says.
  void check_disk(std::size_t i) {
    const auto& one = all_.nodes[i];
    if (!one.cache_shard || !one.cache_shard->ssd)
      return;
    const auto* hardware = hardware_of(all_, one);
    if (!hardware)
      found_.push_back({i, "cache_shard.ssd", "a table",
                        "none: it is not available for real engines yet"});
    else if (hardware->ssd_read_gib_per_s <= 0 || hardware->ssd_write_gib_per_s <= 0)
      found_.push_back({i, "cache_shard.ssd", "a table",
                        "none, unless the node's hardware has ssd_read_gib_per_s and "
                        "ssd_write_gib_per_s above 0"});
  }

  void check_link(std::size_t i) {
    const auto& one = all_.links[i];
    auto key = "link[" + std::to_string(i) + "].";
    bool is_port = !one.node.empty();
    bool is_cable = !one.from.empty() && !one.to.empty() && one.from != one.to;
    bool has_ends = !one.from.empty() || !one.to.empty();
    if (is_port ? has_ends : !is_cable)
      return found_.push_back(
        {{}, key + "node", as_toml(one.node), "either a node, or from and to"});
    auto check = [&](const char* end, const std::string& name) {
      if (!name.empty() && !holds(nodes_, name))
        found_.push_back(
          {{}, key + end, as_toml(name), "the name of a node", nearest(name, nodes_)});
    };
    check("node", one.node);
    check("from", one.from);
    check("to", one.to);
    if (!engines_used_.empty())
      check_link_is_possible(one, key);
    for (std::size_t k = 0; k < i; ++k)
      if (const auto& other = all_.links[k];
          other.node == one.node && other.from == one.from && other.to == one.to)
        found_.push_back({{}, key + "gib_per_s", "", "one link for each node or way"});
  }

  void check_link_is_possible(const link_settings& one, const std::string& key) {
    auto refuse = [&](const char* what, const std::string& found, const char* wanted) {
      found_.push_back({{}, key + what, found, wanted});
    };
    if (engines_used_.contains(modelled)) {
      if (!one.transport.empty())
        refuse("transport", as_toml(one.transport),
               "none: KV between modelled engines goes over [fabric]");
      return;
    }
    if (one.latency_us > 0)
      refuse("latency_us", as_toml(one.latency_us), "0: only what is modelled has one");
    if (one.gib_per_s == 0 && one.transport.empty())
      refuse("transport", as_toml(one.transport),
             "a transport, or gib_per_s above 0: else nothing is laid down");
    if (one.gib_per_s > 0 && !one.node.empty())
      refuse("gib_per_s", as_toml(one.gib_per_s),
             "0, or from and to: a real node's card is as fast as it is");
    for (const auto& other : all_.links)
      if (!other.transport.empty() && !one.transport.empty()
          && other.transport != one.transport && are_of_one_pair(one, other))
        return refuse("transport", as_toml(one.transport),
                      "one transport for both ways between two nodes");
  }

  /// Whether there are two nodes that both are links of.
  static bool are_of_one_pair(const link_settings& one, const link_settings& other) {
    auto has = [](const link_settings& link, const std::string& name) {
      return link.from == name || link.to == name;
    };
    if (!one.node.empty())
      return !other.node.empty() || has(other, one.node);
    if (!other.node.empty())
      return has(one, other.node);
    return has(other, one.from) && has(other, one.to);
  }

  /// What is modelled has no place among engines that are not.
  void check_reality() {
    if (engines_used_.empty() || engines_used_.contains(modelled))
      return;
    constexpr auto wanted = "none, unless the engines are \"modelled\"";
    if (all_.fabric != fabric_settings{})
      found_.push_back({{}, "fabric", "a table", wanted});
    if (!all_.events.empty())
      found_.push_back({{}, "event", "a list", wanted});
  }

  const topology& all_;
  const names& engines_;
  names hardware_, nodes_;
  std::set<std::string> engines_used_;
  std::vector<contradiction> found_;
};

} // namespace

std::vector<contradiction> contradictions(const topology& all, const names& engines) {
  return checker{all, engines}.run();
}

} // namespace perigee::cluster
