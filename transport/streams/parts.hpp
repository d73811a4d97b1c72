/// \file
/// parts: pieces of memory that bytes go to, or come from, in order.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace perigee::transport::streams {

/// Gets shorter from the front.
class parts {
public:
  void add(const std::byte* begin, std::size_t bytes) {
    // What is only read is passed as const; iovec knows no such thing.
    if (bytes > 0)
      all_.push_back({const_cast<std::byte*>(begin), bytes});
    bytes_ += bytes;
  }

  std::uint64_t bytes() const {
    return bytes_;
  }

  /// What is left.
  std::span<const iovec> rest() const {
    return std::span{all_}.subspan(first_);
  }

  /// Takes up to `bytes` off the front; returns how many.
  std::size_t advance(std::size_t bytes) {
    auto left = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, bytes_));
    auto taken = left;
    while (left > 0) {
      auto& front = all_[first_];
      auto now = std::min(left, front.iov_len);
      front.iov_base = static_cast<std::byte*>(front.iov_base) + now;
      front.iov_len -= now;
      left -= now;
      if (front.iov_len == 0)
        ++first_;
    }
    bytes_ -= taken;
    return taken;
  }

  /// Copies from the front of `from` to what is left; returns how many bytes.
  std::size_t fill(std::span<const std::byte> from) {
    std::size_t copied = 0;
    while (copied < from.size() && bytes_ > 0) {
      const auto& front = all_[first_];
      auto now = std::min(from.size() - copied, front.iov_len);
      std::memcpy(front.iov_base, from.data() + copied, now);
      copied += advance(now);
    }
    return copied;
  }

private:
  std::vector<iovec> all_;
  std::size_t first_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace perigee::transport::streams
