#include "transport/rdma/registry.hpp"

#include "transport/rdma/wire.hpp"

namespace perigee::transport::rdma {

registry::registry(const segment_table& segments,
                   std::span<const std::unique_ptr<device>> on,
                   const machine_map& machine, std::uint64_t piece_bytes_max)
  : segments_(segments), on_(on), machine_(machine), piece_bytes_max_(piece_bytes_max) {
}

result<registration_ptr, fault> registry::of(segment_id which) {
  auto what = segments_.find(which);
  if (!what)
    return failure(fault::gone);
  if (!what->base)
    return failure(fault::refused);
  std::shared_ptr<entry> one;
  {
    std::lock_guard held{mutex_};
    auto& place = entries_[which];
    if (!place)
      place = std::make_shared<entry>();
    one = place;
  }
  std::call_once(one->once, [&] { one->made = make(*what); });
  auto made = one->made;
  if (!made
      || !segments_.find(which)) { // removed meanwhile: drop() may have come before
    drop(which);
    return made ? failure(fault::gone) : made;
  }
  return made;
}

void registry::drop(segment_id which) {
  std::map<segment_id, std::shared_ptr<entry>>::node_type gone; // ends after the lock
  std::lock_guard held{mutex_};
  gone = entries_.extract(which);
}

std::optional<verbs_error> registry::last_error() const {
  std::lock_guard held{mutex_};
  return last_error_;
}

result<registration_ptr, fault> registry::make(const segment& what) {
  auto made = std::make_shared<registration>();
  made->what = what;
  memory_span memory{what.base, what.shape.block_bytes() * what.blocks};
  if (what.device) {
    memory.dmabuf = what.device->dmabuf;
    memory.dmabuf_offset = what.device->offset;
  }
  for (const auto& on : on_) {
    auto region = memory_region::make(*on, memory, piece_bytes_max_);
    if (!region) {
      std::lock_guard held{mutex_};
      last_error_ = region.error();
      return failure(fault::refused);
    }
    if (region->pieces() > pieces_max)
      return failure(fault::refused);
    made->regions.push_back(std::move(*region));
  }
  auto place = place_of(what); // its pages are there now
  for (const auto& on : on_)
    made->distances.push_back(distance(place, machine_.of_nic(on->name())));
  return registration_ptr{std::move(made)};
}

whereabouts registry::place_of(const segment& what) const {
  if (what.device)
    return machine_.of_pci(what.device->pci_bus_id);
  return machine_.of_memory(what.base, what.shape.block_bytes() * what.blocks);
}

} // namespace perigee::transport::rdma
