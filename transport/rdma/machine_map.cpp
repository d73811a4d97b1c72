#include "transport/rdma/machine_map.hpp"

#include <hwloc.h>

#include <algorithm>

namespace perigee::transport::rdma {

namespace {

hwloc_topology* with_devices() {
  hwloc_topology_t made = nullptr;
  hwloc_topology_init(&made);
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_ALL);
  return made;
}

int package_of(hwloc_obj* place) {
  while (place && place->type != HWLOC_OBJ_PACKAGE)
    place = place->parent;
  return place ? static_cast<int>(place->logical_index) : whereabouts::unknown;
}

/// Of processors and memory, not of devices.
whereabouts of_node_set(hwloc_topology* all, hwloc_const_bitmap_t nodes) {
  whereabouts found;
  found.numa_node = hwloc_bitmap_first(nodes);
  if (auto* node = hwloc_get_numanode_obj_by_os_index(
        all, static_cast<unsigned>(std::max(found.numa_node, 0))))
    found.package = package_of(node->parent);
  return found;
}

} // namespace

void machine_map::freed::operator()(hwloc_topology* it) const noexcept {
  hwloc_topology_destroy(it);
}

machine_map machine_map::here() {
  topology made{with_devices()};
  hwloc_topology_load(made.get());
  return machine_map{std::move(made)};
}

std::optional<machine_map> machine_map::from_xml(const std::string& path) {
  topology made{with_devices()};
  if (hwloc_topology_set_xml(made.get(), path.c_str()) != 0
      || hwloc_topology_load(made.get()) != 0)
    return std::nullopt;
  return machine_map{std::move(made)};
}

whereabouts machine_map::of_nic(const std::string& name) const {
  for (hwloc_obj* one = nullptr;
       (one = hwloc_get_next_osdev(topology_.get(), one)) != nullptr;)
    if (one->name && name == one->name)
      return of(one);
  return {};
}

whereabouts machine_map::of_pci(const std::string& bus_id) const {
  auto* one = hwloc_get_pcidev_by_busidstring(topology_.get(), bus_id.c_str());
  return one ? of(one) : whereabouts{};
}

whereabouts machine_map::of(hwloc_obj* device) const {
  auto* place = hwloc_get_non_io_ancestor_obj(topology_.get(), device);
  auto found = of_node_set(topology_.get(), place->nodeset);
  for (auto* above = device->parent; above != place; above = above->parent)
    if (above->type == HWLOC_OBJ_BRIDGE
        && above->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
      found.bridges.push_back(above->gp_index);
  std::ranges::reverse(found.bridges);
  if (hwloc_bitmap_weight(place->nodeset) != 1)
    found.numa_node = whereabouts::unknown; // near to several
  return found;
}

whereabouts machine_map::of_memory(const std::byte* base, std::size_t bytes) const {
  constexpr std::size_t page = 4096;
  auto* nodes = hwloc_bitmap_alloc();
  whereabouts found;
  if (hwloc_get_area_memlocation(topology_.get(), base, std::min(bytes, page), nodes,
                                 HWLOC_MEMBIND_BYNODESET)
        == 0
      && !hwloc_bitmap_iszero(nodes))
    found = of_node_set(topology_.get(), nodes);
  hwloc_bitmap_free(nodes);
  return found;
}

} // namespace perigee::transport::rdma
