#include "actors/cluster/modelled_network.hpp"

#include "actors/cluster/event_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace perigee::cluster {
namespace {

double bytes_per_s(double gib_per_s) {
  return gib_per_s * double(1 << 30);
}

std::chrono::nanoseconds from_us(double us) {
  return std::chrono::nanoseconds{std::llround(us * 1e3)};
}

using host = transport::network_plan::host;

host index_of(const topology& all, const std::string& name) {
  auto at = std::ranges::find(all.nodes, name, &node::name);
  return static_cast<host>(at - all.nodes.begin());
}

transport::network_plan without_faults(const topology& all) {
  transport::network_plan plan;
  plan.core_bytes_per_s = bytes_per_s(all.fabric.core_gib_per_s);
  plan.latency = from_us(all.fabric.latency_us);
  for (const auto& one : all.nodes) {
    auto& port = plan.ports.emplace_back();
    port.bytes_per_s = bytes_per_s(all.fabric.nic_gib_per_s);
    const auto* hardware = hardware_of(all, one);
    if (!hardware)
      continue;
    port.latency = from_us(hardware->transfer_fixed_us);
    if (port.bytes_per_s <= 0)
      port.bytes_per_s = bytes_per_s(hardware->transfer_gib_per_s);
  }
  for (const auto& one : all.links) {
    auto rate = bytes_per_s(one.gib_per_s);
    auto latency = from_us(one.latency_us);
    if (!one.node.empty())
      plan.ports[index_of(all, one.node)] = {rate, latency};
    else
      plan.cables[{index_of(all, one.from), index_of(all, one.to)}] = {rate, latency};
  }
  return plan;
}

/// As fast as what is narrowest between two hosts: a cable that holds up nobody.
double widest_use(const transport::network_plan& plan, host from, host to) {
  double least = std::numeric_limits<double>::infinity();
  for (auto rate : {plan.ports[from].bytes_per_s, plan.core_bytes_per_s,
                    plan.ports[to].bytes_per_s})
    if (rate > 0)
      least = std::min(least, rate);
  return least;
}

/// Gives a link that had no limit one that nobody reaches, for what can be taken away.
void make_limited(double& bytes_per_s, double limit) {
  if (bytes_per_s <= 0)
    bytes_per_s = limit;
}

void add_fault(transport::network_plan& to, const topology& all,
               const event_settings& one, std::chrono::nanoseconds trace_began) {
  transport::network_plan::fault made;
  auto times = times_of(one, trace_began);
  made.begins = times.begins;
  made.ends = times.ends;
  made.share = one.what == "cut_link" ? 0 : 1 / one.factor;
  if (!one.node.empty()) {
    made.from = index_of(all, one.node);
    make_limited(to.ports[made.from].bytes_per_s,
                 std::numeric_limits<double>::infinity());
  } else {
    made.from = index_of(all, one.from);
    made.to = index_of(all, one.to);
    make_limited(to.cables[{made.from, *made.to}].bytes_per_s,
                 widest_use(to, made.from, *made.to));
  }
  to.faults.push_back(made);
}

} // namespace

const hardware_settings* hardware_of(const topology& all, const node& one) {
  auto find = [&](const auto& owners) -> const hardware_settings* {
    for (const auto& owner : owners)
      if (auto at = all.hardware.find(owner.hardware); at != all.hardware.end())
        return &at->second;
    return nullptr;
  };
  const auto* found = find(one.prefill_groups);
  return found ? found : find(one.decode_instances);
}

transport::network_plan network_of(const topology& all,
                                   std::chrono::nanoseconds trace_began) {
  auto plan = without_faults(all);
  for (const auto& one : all.events)
    if (is_of_link(one))
      add_fault(plan, all, one, trace_began);
  return plan;
}

bool has_network(const topology& all) {
  return all.nodes.size() > 1 && without_faults(all).has_effect();
}

} // namespace perigee::cluster
