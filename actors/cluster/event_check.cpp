#include "actors/cluster/event_check.hpp"

#include "actors/cluster/bad_input.hpp"
#include "actors/cluster/event_times.hpp"
#include "actors/cluster/modelled_network.hpp"
#include "actors/cluster/settings.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::cluster {
namespace {

/// How many actors of that kind, as a topology names them, are on a node.
std::size_t number_of(const std::string& actor, const node& one, bool is_control) {
  if (actor == "prefill_group")
    return one.prefill_groups.size();
  if (actor == "decode_instance")
    return one.decode_instances.size();
  if (actor == "coupled_instance")
    return one.coupled_instances.size();
  if (actor == "cache_shard" || actor == "transfer")
    return one.cache_shard ? 1 : 0;
  return is_control ? 1 : 0;
}

bool has_engines(const node& one) {
  return !one.prefill_groups.empty() || !one.decode_instances.empty()
         || !one.coupled_instances.empty();
}

class checker {
public:
  explicit checker(const topology& all) : all_(all) {
    for (const auto& one : all.nodes)
      names_.push_back(one.name);
  }

  std::vector<contradiction> run() {
    for (at_ = 0; at_ < all_.events.size(); ++at_) {
      const auto& one = all_.events[at_];
      if (one.what.empty())
        refuse("what", "not set",
               "what happens: kill, slow, slow_link, cut_link or fill");
      else if (is_of_link(one))
        check_link(one);
      else
        check_node(one);
      check_others(one);
    }
    return std::move(found_);
  }

private:
  void refuse(const char* key, const std::string& found, const std::string& expected,
              const std::string& near = {}) {
    found_.push_back(
      {{}, "event[" + std::to_string(at_) + "]." + key, found, expected, near});
  }

  /// Null, and it is said, if there is none.
  const node* find(const char* key, const std::string& name) {
    auto at = std::ranges::find(all_.nodes, name, &node::name);
    if (at != all_.nodes.end())
      return &*at;
    refuse(key, as_toml(name), "the name of a node", nearest(name, names_));
    return nullptr;
  }

  void check_node(const event_settings& one) {
    if (!one.from.empty() || !one.to.empty())
      refuse(one.from.empty() ? "to" : "from", as_toml(one.from + one.to),
             "none: only links go from one node to another");
    const auto* where = find("node", one.node);
    if (!where)
      return;
    if (one.what != "kill" && !one.actor.empty())
      return refuse("actor", as_toml(one.actor), "none, unless one is killed");
    if (one.what == "slow" && !has_engines(*where))
      refuse("node", as_toml(one.node), "a node that has engines");
    if (one.what == "fill" && !where->cache_shard)
      refuse("node", as_toml(one.node), "a node that has a cache_shard");
    if (one.what == "kill")
      check_killed(one, *where);
  }

  void check_killed(const event_settings& one, const node& where) {
    bool is_control = where.name == all_.cluster.control;
    if (one.actor.empty()) {
      if (is_control && one.for_s <= 0)
        refuse("for_s", "0",
               "more than 0: without the node's gateway nobody is ever answered");
      return;
    }
    auto there = number_of(one.actor, where, is_control);
    if (there == 0)
      refuse("actor", as_toml(one.actor), "an actor that is on " + one.node);
    else if (one.index >= there)
      refuse("index", std::to_string(one.index),
             "less than " + std::to_string(there) + ": there are no more on "
               + one.node);
  }

  void check_link(const event_settings& one) {
    if (!one.actor.empty())
      return refuse("actor", as_toml(one.actor), "none, unless one is killed");
    bool has_ends = !one.from.empty() || !one.to.empty();
    if (has_ends != one.node.empty() || (has_ends && one.from == one.to))
      return refuse("node", as_toml(one.node), "either a node, or from and to");
    bool all_known = has_ends ? find("from", one.from) && find("to", one.to)
                              : find("node", one.node) != nullptr;
    if (!all_known)
      return;
    if (!has_network(all_))
      refuse(
        "what", as_toml(one.what),
        "no link, unless movements between nodes take time: a [fabric], a [[link]], "
        "or transfer_gib_per_s of the hardware");
    else if (one.what == "slow_link" && !has_bandwidth(one))
      refuse("what", as_toml(one.what), "a link whose bandwidth has a limit");
  }

  bool has_bandwidth(const event_settings& one) const {
    auto plan = network_of(all_);
    if (!one.node.empty())
      return std::isfinite(plan.ports[index_of(one.node)].bytes_per_s)
             && plan.ports[index_of(one.node)].bytes_per_s > 0;
    auto cable = plan.cables.find({index_of(one.from), index_of(one.to)});
    return cable != plan.cables.end() && std::isfinite(cable->second.bytes_per_s);
  }

  transport::network_plan::host index_of(const std::string& name) const {
    return static_cast<transport::network_plan::host>(std::ranges::find(names_, name)
                                                      - names_.begin());
  }

  /// Of two at once on the same thing, nobody could say what comes when one ends.
  void check_others(const event_settings& one) {
    for (std::size_t k = 0; k < at_; ++k) {
      const auto& other = all_.events[k];
      if (!is_same_thing(one, other) || !overlap(one, other))
        continue;
      return refuse("at_s", as_toml(one.at_s),
                    "a moment when event[" + std::to_string(k) + "], "
                      + description_of(other) + ", is over");
    }
  }

  static bool is_same_thing(const event_settings& one, const event_settings& other) {
    if (is_of_link(one) && is_of_link(other))
      return one.node == other.node && one.from == other.from && one.to == other.to;
    if (one.what != other.what || one.node != other.node)
      return false;
    return one.actor.empty() || other.actor.empty()
           || (one.actor == other.actor && one.index == other.index);
  }

  /// What is away for no time is in the way of what begins at that moment, too.
  static bool overlap(const event_settings& one, const event_settings& other) {
    auto a = times_of(one), b = times_of(other);
    return a.meets(b) || a.begins == b.begins;
  }

  const topology& all_;
  std::vector<std::string> names_;
  std::size_t at_ = 0; // in the events
  std::vector<contradiction> found_;
};

} // namespace

std::vector<contradiction> event_contradictions(const topology& all) {
  return checker{all}.run();
}

} // namespace perigee::cluster
