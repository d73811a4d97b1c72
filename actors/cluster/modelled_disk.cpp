#include "actors/cluster/modelled_disk.hpp"

#include "actors/cluster/modelled_network.hpp"
#include "schemas/assert.hpp"

namespace perigee::cluster {

transport::modelled_disk_options disk_of(const topology& all, node_index at,
                                         std::uint32_t slots) {
  const auto* hardware = hardware_of(all, all.nodes[static_cast<std::size_t>(at)]);
  PERIGEE_ASSERT(hardware, "a disk that is modelled, of a node that is not");
  return {.slots = slots,
          .read_bytes_per_s = hardware->ssd_read_gib_per_s * double(1 << 30),
          .write_bytes_per_s = hardware->ssd_write_gib_per_s * double(1 << 30),
          .latency = std::chrono::nanoseconds{static_cast<std::int64_t>(
            hardware->ssd_latency_us * 1e3)},
          .depth = static_cast<std::uint32_t>(hardware->ssd_depth)};
}

} // namespace perigee::cluster
