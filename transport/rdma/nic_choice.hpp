/// \file
/// Which NICs are near which memory. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace perigee::transport::rdma {

/// Where in a machine a NIC, a GPU, or memory is.
struct whereabouts {
  static constexpr int unknown = -1;

  int package = unknown;
  int numa_node = unknown;

  /// The PCIe bridges and switches above a device, from below the root complex down.
  /// None for the memory of processors.
  std::vector<std::uint64_t> bridges{};
};

/// How far it is from memory to a NIC, the nearest first:
///
/// | distance   | what the bytes cross                                          |
/// |------------|---------------------------------------------------------------|
/// | 0 to 7     | a PCIe switch above both: the fewer above that, the farther   |
/// | 8          | the root complex of one NUMA node                             |
/// | 9          | NUMA nodes of one package                                     |
/// | 10         | packages                                                      |
///
/// Of memory that is nobody knows where, 8 to all. NICs of one distance are used
/// together, farther ones only if none of those works.
std::uint8_t distance(const whereabouts& memory, const whereabouts& nic);

} // namespace perigee::transport::rdma
