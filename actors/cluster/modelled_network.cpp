#include "actors/cluster/modelled_network.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::cluster {
namespace {

double bytes_per_s(double gib_per_s) {
  return gib_per_s * double(1 << 30);
}

std::chrono::nanoseconds from_us(double us) {
  return std::chrono::nanoseconds{std::llround(us * 1e3)};
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

transport::network_plan network_of(const topology& all) {
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
  auto index = [&](const std::string& name) {
    auto at = std::ranges::find(all.nodes, name, &node::name);
    return static_cast<transport::network_plan::host>(at - all.nodes.begin());
  };
  for (const auto& one : all.links) {
    auto rate = bytes_per_s(one.gib_per_s);
    auto latency = from_us(one.latency_us);
    if (!one.node.empty())
      plan.ports[index(one.node)] = {rate, latency};
    else
      plan.cables[{index(one.from), index(one.to)}] = {rate, latency};
  }
  return plan;
}

} // namespace perigee::cluster
