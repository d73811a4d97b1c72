/// \file
/// aligned_bytes: memory that begins at a cache line.
#pragma once

#include <cstddef>
#include <memory>

namespace perigee::engine::cpu {

/// `size` bytes, zero, at a multiple of 64. From 2 MiB on they ask for huge pages, and
/// take memory only as they are touched. Goes with its last copy: copies share the
/// bytes.
class aligned_bytes {
public:
  aligned_bytes() = default;

  /// Ends the process if there is no such memory.
  explicit aligned_bytes(std::size_t size);

  std::byte* data() const {
    return memory_.get();
  }

  std::size_t size() const {
    return size_;
  }

private:
  friend class aligned_slabs;

  std::size_t size_ = 0;
  std::shared_ptr<std::byte> memory_;
};

/// Cuts many small pieces out of few large ones, so that they lie on huge pages too.
class aligned_slabs {
public:
  static constexpr std::size_t slab_bytes = std::size_t{32} << 20;

  /// `size` zero bytes at a multiple of 64, beside the last ones. A slab goes with the
  /// last of its pieces.
  aligned_bytes take(std::size_t size);

private:
  aligned_bytes current_;
  std::size_t used_ = 0;
};

} // namespace perigee::engine::cpu
