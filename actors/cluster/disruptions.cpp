#include "actors/cluster/disruptions.hpp"

#include "actors/cluster/event_times.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <map>

namespace perigee::cluster {
namespace {

schema::Role role_of(const std::string& actor) {
  using schema::Role;
  static const std::map<std::string, Role> roles{
    {"gateway", Role::GATEWAY},        {"rejector", Role::REJECTOR},
    {"conductor", Role::CONDUCTOR},    {"prefill_group", Role::PREFILL},
    {"decode_instance", Role::DECODE}, {"coupled_instance", Role::COUPLED},
    {"cache_shard", Role::SHARD},      {"transfer", Role::TRANSFER}};
  auto found = roles.find(actor);
  PERIGEE_ASSERT(found != roles.end(), "the settings' table has an actor too many");
  return found->second;
}

} // namespace

std::vector<disruption> disruptions_of(const topology& all,
                                       std::chrono::nanoseconds trace_began) {
  std::vector<disruption> some;
  for (const auto& one : all.events) {
    if (one.what != "kill" && one.what != "fill")
      continue;
    auto at = std::ranges::find(all.nodes, one.node, &node::name);
    auto times = times_of(one, trace_began);
    disruption made;
    made.what = one.what == "kill" ? disruption::kind::outage : disruption::kind::fill;
    made.node = node_index{static_cast<std::uint32_t>(at - all.nodes.begin())};
    if (!one.actor.empty())
      made.who = {role_of(one.actor), static_cast<std::uint32_t>(one.index)};
    made.begins = times.begins;
    made.ends = times.ends;
    some.push_back(made);
  }
  return some;
}

std::vector<engine_host::slow_spell>
slow_spells_of(const topology& all, const std::string& node,
               std::chrono::nanoseconds trace_began) {
  std::vector<engine_host::slow_spell> some;
  for (const auto& one : all.events)
    if (one.what == "slow" && one.node == node) {
      auto times = times_of(one, trace_began);
      some.push_back({times.begins, times.ends, one.factor});
    }
  return some;
}

} // namespace perigee::cluster
