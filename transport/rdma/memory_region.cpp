#include "transport/rdma/memory_region.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <cerrno>

namespace perigee::transport::rdma {

result<owned<ibv_mr>, verbs_error> registered(const device& on, memory_span memory,
                                              int access) {
  owned<ibv_mr> made;
  if (memory.dmabuf >= 0)
    made.reset(ibv_reg_dmabuf_mr(on.domain(), memory.dmabuf_offset, memory.bytes,
                                 reinterpret_cast<std::uintptr_t>(memory.base),
                                 memory.dmabuf, access));
  else
    made.reset(ibv_reg_mr(on.domain(), memory.base, memory.bytes, access));
  if (!made)
    return failure(
      verbs_error{memory.dmabuf >= 0 ? "ibv_reg_dmabuf_mr" : "ibv_reg_mr", errno});
  return made;
}

result<memory_region, verbs_error> memory_region::make(const device& on,
                                                       memory_span memory,
                                                       std::uint64_t piece_bytes_max) {
  constexpr std::uint64_t page = 4096;
  memory_region made;
  made.memory_ = memory;
  made.piece_bytes_ = std::min(piece_bytes_max, on.limits().region_bytes_max) & -page;
  PERIGEE_ASSERT(made.piece_bytes_ > 0, "a piece is at least a page");
  auto access = IBV_ACCESS_LOCAL_WRITE | (on.limits().windows ? IBV_ACCESS_MW_BIND : 0);
  auto count = (memory.bytes - 1) / made.piece_bytes_ + 1;
  for (std::size_t index = 0; index < count; ++index) {
    auto piece = registered(on, made.extent(index), access);
    if (!piece)
      return failure(piece.error());
    made.pieces_.push_back(std::move(*piece));
  }
  return made;
}

memory_span memory_region::extent(std::size_t index) const {
  auto begin = index * piece_bytes_;
  auto part = memory_;
  part.base += begin;
  part.dmabuf_offset += begin;
  part.bytes = std::min(piece_bytes_, memory_.bytes - begin);
  return part;
}

} // namespace perigee::transport::rdma
