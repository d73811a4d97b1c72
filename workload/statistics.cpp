#include "workload/statistics.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace perigee::workload {

void statistics::add(const request& one) {
  ++requests_;
  if (one.arrival != last_)
    ++arrival_times_;
  last_ = one.arrival;
  waiting_ += one.think ? 1 : 0;
  ++input_[one.input_tokens];
  ++output_[one.output_tokens];
  std::size_t matched = 0;
  while (matched < one.block_ids.size() && seen_.contains(one.block_ids[matched]))
    ++matched;
  for (auto id : one.block_ids)
    ++seen_[id];
  for (std::size_t depth = 0; depth < one.block_ids.size(); ++depth) {
    auto& level = depths_[std::min<std::size_t>(std::bit_width(depth), 15)];
    ++level.blocks;
    level.hits += depth < matched ? 1 : 0;
  }
  blocks_ += one.block_ids.size();
  hits_ += matched;
  auto tokens = std::min<std::uint64_t>(matched * block_tokens, one.input_tokens);
  tokens_ += one.input_tokens;
  tokens_hit_ += tokens;
  share_sum_ += static_cast<double>(tokens) / std::max(one.input_tokens, 1U);
}

length_summary statistics::summary_of(const histogram& lengths) {
  std::uint64_t count = 0;
  double sum = 0;
  for (auto [length, times] : lengths) {
    count += times;
    sum += static_cast<double>(length) * static_cast<double>(times);
  }
  if (count == 0)
    return {};
  auto at = [&](double share) {
    auto rank = static_cast<std::uint64_t>(share * static_cast<double>(count));
    std::uint64_t below = 0;
    for (auto [length, times] : lengths)
      if ((below += times) > rank)
        return std::uint64_t{length};
    return std::uint64_t{lengths.rbegin()->first};
  };
  return {sum / static_cast<double>(count),
          lengths.begin()->first,
          at(0.01),
          at(0.1),
          at(0.25),
          at(0.5),
          at(0.75),
          at(0.9),
          at(0.95),
          at(0.99),
          lengths.rbegin()->first};
}

trace_summary statistics::summary() const {
  auto share = [](auto part, auto all) {
    return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
  };
  trace_summary all;
  all.requests = requests_;
  all.duration = std::max(last_, std::chrono::nanoseconds{0});
  all.arrival_times = arrival_times_;
  all.waiting = waiting_;
  all.input = summary_of(input_);
  all.output = summary_of(output_);
  all.blocks = blocks_;
  all.blocks_different = seen_.size();
  std::vector<std::uint64_t> times;
  times.reserve(seen_.size());
  for (const auto& [_, count] : seen_)
    times.push_back(count);
  all.blocks_once
    = static_cast<std::uint64_t>(std::count(times.begin(), times.end(), 1U));
  auto ten = std::min<std::size_t>(times.size(), 10);
  std::partial_sort(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(ten),
                    times.end(), std::greater<>{});
  all.hottest.assign(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(ten));
  all.hits = {share(hits_, blocks_), share(tokens_hit_, tokens_),
              share(share_sum_, static_cast<double>(requests_))};
  for (std::size_t level = 0; level < depths_.size() && depths_[level].blocks > 0;
       ++level) {
    all.by_depth.push_back(depths_[level]);
    all.by_depth.back().from = level == 0 ? 0 : std::size_t{1} << (level - 1);
  }
  return all;
}

} // namespace perigee::workload
