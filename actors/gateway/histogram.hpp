/// \file
/// histogram: how often a measure was how large.
#pragma once

#include "actors/runtime/counter.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <span>

namespace perigee::gateway {

/// Of durations. One owner adds, any thread reads; a reader may see the last few not
/// yet everywhere.
class histogram {
public:
  using span_of_time = std::chrono::nanoseconds;

  static constexpr std::size_t buckets_max = 24;

  /// `bounds_s`: upper bounds of the buckets in seconds, ascending; above the last
  /// there is one more.
  explicit histogram(std::span<const double> bounds_s) : bounds_s_(bounds_s) {}

  void add(span_of_time measure) noexcept {
    auto seconds = std::chrono::duration<double>(measure).count();
    std::size_t i = 0;
    while (i < bounds_s_.size() && seconds > bounds_s_[i])
      ++i;
    buckets_[i].add();
    sum_ns_.add(static_cast<std::uint64_t>(measure.count() < 0 ? 0 : measure.count()));
  }

  std::span<const double> bounds_s() const {
    return bounds_s_;
  }

  /// In bucket `i` alone, not in those below.
  std::uint64_t count(std::size_t i) const {
    return buckets_[i].value();
  }

  double sum_s() const {
    return static_cast<double>(sum_ns_.value()) * 1e-9;
  }

private:
  std::span<const double> bounds_s_;
  std::array<rt::counter, buckets_max + 1> buckets_;
  rt::counter sum_ns_;
};

} // namespace perigee::gateway
