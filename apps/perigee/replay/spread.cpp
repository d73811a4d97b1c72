#include "apps/perigee/replay/spread.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace perigee::app {

using std::chrono::nanoseconds;

spread spread_of(std::vector<nanoseconds> spans) {
  if (spans.empty())
    return {};
  std::sort(spans.begin(), spans.end());
  auto at = [&](std::size_t percent) {
    return spans[(spans.size() * percent + 99) / 100 - 1];
  };
  auto sum = std::accumulate(spans.begin(), spans.end(), nanoseconds{});
  return {spans.size(), sum / static_cast<std::int64_t>(spans.size()),
          at(50),       at(90),
          at(99),       spans.back()};
}

std::size_t span_histogram::bucket_of(std::uint64_t ns) {
  constexpr auto sub_mask = (std::uint64_t{1} << sub_bits) - 1;
  ns = std::min(ns, (std::uint64_t{1} << (linear_bits + octaves)) - 1);
  if (ns < std::uint64_t{1} << linear_bits)
    return ns >> (linear_bits - sub_bits);
  auto octave = static_cast<std::size_t>(std::bit_width(ns)) - 1;
  auto sub = (ns >> (octave - sub_bits)) & sub_mask;
  return ((octave - linear_bits + 1) << sub_bits) + sub;
}

std::uint64_t span_histogram::upper_bound_of(std::size_t bucket) {
  constexpr std::size_t in_octave = std::size_t{1} << sub_bits;
  if (bucket < in_octave)
    return (std::uint64_t{bucket + 1} << (linear_bits - sub_bits)) - 1;
  auto octave = bucket / in_octave - 1 + linear_bits;
  auto sub = bucket % in_octave;
  return (std::uint64_t{in_octave + sub + 1} << (octave - sub_bits)) - 1;
}

void span_histogram::add(nanoseconds span, std::uint64_t times) {
  counts_[bucket_of(static_cast<std::uint64_t>(span.count()))] += times;
  count_ += times;
  sum_ += span * static_cast<std::int64_t>(times);
  most_ = std::max(most_, span);
}

spread span_histogram::sum() const {
  if (count_ == 0)
    return {};
  return {count_, sum_ / static_cast<std::int64_t>(count_), at(50), at(90), at(99),
          most_};
}

nanoseconds span_histogram::at(unsigned percent) const {
  auto wanted = (count_ * percent + 99) / 100;
  std::uint64_t below = 0;
  std::size_t i = 0;
  while ((below += counts_[i]) < wanted)
    ++i;
  return std::min(nanoseconds{static_cast<std::int64_t>(upper_bound_of(i))}, most_);
}

} // namespace perigee::app
