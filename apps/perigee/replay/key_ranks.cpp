#include "apps/perigee/replay/key_ranks.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <numeric>

namespace perigee::app {

key_ranks::key_ranks(std::size_t keys_max) : keys_max_(keys_max) {
  PERIGEE_ASSERT(keys_max > 0, "room for a block");
}

void key_ranks::add(std::span<const std::uint64_t> ids) {
  ranked_.clear();
  for (auto id : ids) {
    auto found = places_.find(id);
    if (found != places_.end()) {
      ++all_[found->second].times;
      continue;
    }
    if (all_.size() == keys_max_)
      forget_some();
    places_.emplace(id, static_cast<std::uint32_t>(all_.size()));
    all_.push_back({id, 1});
  }
}

/// The more often asked for half stays, or less if many are equal.
void key_ranks::forget_some() {
  auto by_times = all_;
  auto middle = by_times.begin() + static_cast<std::ptrdiff_t>(by_times.size() / 2);
  std::nth_element(by_times.begin(), middle, by_times.end(),
                   [](const entry& a, const entry& b) { return a.times < b.times; });
  std::erase_if(
    all_, [least = middle->times](const entry& one) { return one.times <= least; });
  places_.clear();
  for (std::size_t i = 0; i < all_.size(); ++i)
    places_.emplace(all_[i].id, static_cast<std::uint32_t>(i));
}

std::optional<std::uint64_t> key_ranks::at(std::size_t rank) {
  if (ranked_.empty())
    this->rank();
  if (rank == 0 || rank > ranked_.size())
    return std::nullopt;
  return all_[ranked_[rank - 1]].id;
}

void key_ranks::rank() {
  ranked_.resize(all_.size());
  std::iota(ranked_.begin(), ranked_.end(), std::uint32_t{0});
  auto end
    = ranked_.begin() + static_cast<std::ptrdiff_t>(std::min(ranked_.size(), rank_max));
  auto before = [this](std::uint32_t a, std::uint32_t b) {
    return all_[a].times != all_[b].times ? all_[a].times > all_[b].times : a < b;
  };
  if (end != ranked_.end())
    std::nth_element(ranked_.begin(), end, ranked_.end(), before);
  std::sort(ranked_.begin(), end, before);
  ranked_.erase(end, ranked_.end());
}

} // namespace perigee::app
