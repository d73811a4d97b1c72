#include "apps/perigee/replay/longest_tenth.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <functional>

namespace perigee::app {
namespace {

std::size_t tenth_of(std::size_t gaps) {
  return (gaps + 9) / 10;
}

} // namespace

longest_tenth::longest_tenth(std::size_t gaps_max)
  : gaps_max_(gaps_max), kept_max_(tenth_of(gaps_max)) {}

void longest_tenth::add(nanoseconds gap, std::size_t times) {
  if (times == 0)
    return;
  seen_ += times;
  PERIGEE_ASSERT(seen_ <= gaps_max_, "an answer has as many tokens as were wanted");
  if (kept_ >= kept_max_ && gap <= kept_gaps_.front().first)
    return;
  kept_gaps_.emplace_back(gap, times);
  std::push_heap(kept_gaps_.begin(), kept_gaps_.end(), std::greater{});
  kept_ += times;
  while (kept_ - kept_gaps_.front().second >= kept_max_) {
    kept_ -= kept_gaps_.front().second;
    std::pop_heap(kept_gaps_.begin(), kept_gaps_.end(), std::greater{});
    kept_gaps_.pop_back();
  }
}

std::optional<std::chrono::nanoseconds> longest_tenth::mean() const {
  if (seen_ == 0)
    return std::nullopt;
  auto longest = kept_gaps_;
  std::sort(longest.begin(), longest.end(), std::greater{});
  auto wanted = tenth_of(seen_);
  nanoseconds sum{};
  auto left = wanted;
  for (const auto& [gap, times] : longest) {
    auto some = std::min(left, times);
    sum += gap * static_cast<std::int64_t>(some);
    left -= some;
  }
  return sum / static_cast<std::int64_t>(wanted);
}

} // namespace perigee::app
