#include "transport/rdma/nic_choice.hpp"

#include <algorithm>
#include <map>

namespace perigee::transport::rdma {

namespace {

constexpr std::uint8_t by_root_complex = 8, between_nodes = 9, between_packages = 10;

std::size_t bridges_shared(const whereabouts& memory, const whereabouts& nic) {
  auto [here, there] = std::ranges::mismatch(memory.bridges, nic.bridges);
  return static_cast<std::size_t>(here - memory.bridges.begin());
}

} // namespace

std::uint8_t distance(const whereabouts& memory, const whereabouts& nic) {
  if (auto shared = bridges_shared(memory, nic))
    return static_cast<std::uint8_t>(by_root_complex
                                     - std::min<std::size_t>(shared, by_root_complex));
  if (memory.numa_node == whereabouts::unknown || nic.numa_node == memory.numa_node)
    return by_root_complex;
  return nic.package == memory.package ? between_nodes : between_packages;
}

std::vector<std::vector<std::size_t>> nic_choice(const whereabouts& memory,
                                                 std::span<const whereabouts> nics) {
  std::map<std::uint8_t, std::vector<std::size_t>> by_distance;
  for (std::size_t i = 0; i < nics.size(); ++i)
    by_distance[distance(memory, nics[i])].push_back(i);
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [far, group] : by_distance)
    groups.push_back(std::move(group));
  return groups;
}

} // namespace perigee::transport::rdma
