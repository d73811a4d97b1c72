/// \file
/// A number that one actor sets and anyone may read.
#pragma once

#include <atomic>
#include <cstdint>

namespace perigee::rt {

/// How much there is of something now. Written by one actor at a time, read from any
/// thread, at the price of a plain number.
class gauge {
public:
  void set(std::uint64_t now) noexcept {
    value_.store(now, std::memory_order_relaxed);
  }

  std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t> value_{0};
};

} // namespace perigee::rt
