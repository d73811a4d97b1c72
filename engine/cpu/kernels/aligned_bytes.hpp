/// \file
/// aligned_bytes: memory that begins at a cache line.
#pragma once

#include <cstddef>
#include <memory>

namespace perigee::engine::cpu {

/// `size` bytes, zero, at a multiple of 64. Large ones ask for huge pages.
class aligned_bytes {
public:
  aligned_bytes() = default;
  explicit aligned_bytes(std::size_t size);

  std::byte* data() const {
    return memory_.get();
  }

  std::size_t size() const {
    return size_;
  }

private:
  struct release {
    void operator()(std::byte* memory) const;
  };

  std::size_t size_ = 0;
  std::unique_ptr<std::byte, release> memory_;
};

} // namespace perigee::engine::cpu
