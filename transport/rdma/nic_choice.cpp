#include "transport/rdma/nic_choice.hpp"

#include <algorithm>

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

} // namespace perigee::transport::rdma
