/// \file
/// spread: what a set of spans of time comes to.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perigee::app {

/// All 0 of an empty set. A percentile is the smallest span that is not exceeded by so
/// many per cent of them.
struct spread {
  std::uint64_t count = 0;
  std::chrono::nanoseconds mean{}, p50{}, p90{}, p99{}, most{};

  bool operator==(const spread&) const = default;
};

spread spread_of(std::vector<std::chrono::nanoseconds> spans);

/// Counts spans in buckets that are fixed, so that it does not grow. Each is at most
/// 0.8 % wide, or 1,024 ns. Pure.
class span_histogram {
public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Nothing is shorter than 0; what is longer than two hours counts as that.
  void add(nanoseconds span, std::uint64_t times);

  /// Mean and longest are exact; a percentile is the upper bound of its bucket, but at
  /// most the longest.
  spread sum() const;

private:
  // 128 buckets of 1,024 ns, then 128 for each power of two from 2^17 ns to 2^43 ns.
  static constexpr std::size_t linear_bits = 17;
  static constexpr std::size_t sub_bits = 7;
  static constexpr std::size_t octaves = 26;
  static constexpr std::size_t buckets = (octaves + 1) << sub_bits;

  static std::size_t bucket_of(std::uint64_t ns);
  static std::uint64_t upper_bound_of(std::size_t bucket);
  nanoseconds at(unsigned percent) const;

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t count_ = 0;
  nanoseconds sum_{};
  nanoseconds most_{};
};

} // namespace perigee::app
