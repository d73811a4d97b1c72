/// \file
/// memory_region: a segment's memory as one device knows it.
#pragma once

#include "transport/rdma/device.hpp"

#include <cstddef>

namespace perigee::transport::rdma {

/// Memory, and how a device comes at it.
struct memory_span {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;

  /// The memory of a GPU: a dma-buf of the kernel that `base` is mapped from, beginning
  /// at `dmabuf_offset`. -1: ordinary memory.
  int dmabuf = -1;
  std::uint64_t dmabuf_offset = 0;
};

/// Memory that is pinned and registered, in pieces of equal length (the last may be
/// shorter), because devices have limits. Owns the registrations, not the memory: it
/// must live until this has ended.
///
/// Peers cannot reach it by itself: that takes a grant.
class memory_region {
public:
  /// Pieces are as long as the device allows, and at most `piece_bytes_max`, which is a
  /// multiple of a page. Takes long: about 0.1 s a GiB where pages are new.
  static result<memory_region, verbs_error> make(const device& on, memory_span memory,
                                                 std::uint64_t piece_bytes_max);

  const memory_span& memory() const {
    return memory_;
  }
  std::uint64_t piece_bytes() const {
    return piece_bytes_;
  }
  std::size_t pieces() const {
    return pieces_.size();
  }
  ibv_mr* piece(std::size_t index) const {
    return pieces_[index].get();
  }
  /// The part of the memory that piece `index` is.
  memory_span extent(std::size_t index) const;

private:
  memory_span memory_;
  std::uint64_t piece_bytes_ = 0;
  std::vector<owned<ibv_mr>> pieces_;
};

/// Registers `memory` with `access` (of ibv_access_flags), as a whole.
result<owned<ibv_mr>, verbs_error> registered(const device& on, memory_span memory,
                                              int access);

} // namespace perigee::transport::rdma
