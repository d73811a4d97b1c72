/// \file
/// machine_map: where NICs, GPUs and memory are in a machine, as hwloc sees it.
#pragma once

#include "transport/rdma/nic_choice.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

struct hwloc_topology;
struct hwloc_obj;

namespace perigee::transport::rdma {

class machine_map {
public:
  /// Of the machine that this runs on. Takes some milliseconds.
  static machine_map here();

  /// Of another one, from what `lstopo --of xml` has written. Nothing if that can't be
  /// read.
  static std::optional<machine_map> from_xml(const std::string& path);

  /// Of a device of this name, as mlx5_0, or at this PCI bus id, as 0000:18:00.0.
  /// Unknown if it isn't there.
  whereabouts of_nic(const std::string& name) const;
  whereabouts of_pci(const std::string& bus_id) const;

  /// Of memory of this process: where its first page lies. Unknown before that was
  /// touched, and on maps of other machines.
  whereabouts of_memory(const std::byte* base, std::size_t bytes) const;

private:
  struct freed {
    void operator()(hwloc_topology* it) const noexcept;
  };
  using topology = std::unique_ptr<hwloc_topology, freed>;

  explicit machine_map(topology what) : topology_(std::move(what)) {}
  whereabouts of(hwloc_obj* device) const;

  topology topology_;
};

} // namespace perigee::transport::rdma
