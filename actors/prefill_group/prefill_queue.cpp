#include "actors/prefill_group/prefill_queue.hpp"

#include <algorithm>

namespace perigee::prefill {

void prefill_queue::add(std::uint64_t request, std::uint32_t tokens, bool is_scored) {
  if (tokens > 0)
    waiting_.push_back({request, tokens, is_scored});
}

bool prefill_queue::remove(std::uint64_t request) {
  auto is_it = [=](const entry& one) { return one.request == request; };
  return std::erase_if(waiting_, is_it) + std::erase_if(begun_, is_it) > 0;
}

/// How long it counts as.
std::uint32_t prefill_queue::apparent(const entry& one) const {
  auto credit = std::uint64_t{one.passed_over} * std::max(chunk_ / 8, 1u);
  return credit >= one.left ? 0 : one.left - static_cast<std::uint32_t>(credit);
}

std::size_t prefill_queue::shortest() const {
  auto best = std::min_element(
    waiting_.begin(), waiting_.end(),
    [this](const entry& a, const entry& b) { return apparent(a) < apparent(b); });
  return static_cast<std::size_t>(best - waiting_.begin());
}

void prefill_queue::give(entry& one, std::uint32_t most) {
  auto allowed = one.is_scored ? scored_room_ : room_;
  auto tokens = std::min({one.left, allowed, most, room_});
  one.left -= tokens;
  one.given += tokens;
  room_ -= tokens;
  if (one.is_scored)
    scored_room_ -= tokens;
}

void prefill_queue::begin(std::size_t waiter) {
  begun_.push_back(waiting_[waiter]);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(waiter));
  give(begun_.back(), room_);
}

std::vector<share> prefill_queue::next_chunk() {
  room_ = chunk_;
  scored_room_ = scored_max_;
  auto turns = begun_.size(); // who begins now comes behind them
  if (turns > 0) {
    auto left = begun_.front().left;
    auto is_shorter
      = [&] { return !waiting_.empty() && apparent(waiting_[shortest()]) < left; };
    give(begun_.front(), is_shorter() ? chunk_ / 2 : chunk_);
    while (room_ > 0 && is_shorter())
      begin(shortest());
  }
  for (std::size_t i = 0; i < turns && room_ > 0; ++i)
    give(begun_[i], room_);
  while (room_ > 0 && !waiting_.empty())
    begin(shortest());
  return close();
}

/// Who had a share goes behind those who had none.
std::vector<share> prefill_queue::close() {
  std::vector<share> chunk;
  std::deque<entry> served;
  for (auto& one : begun_)
    if (one.given > 0) {
      chunk.push_back({one.request, one.given});
      served.push_back(one);
      served.back().given = 0;
    }
  std::erase_if(begun_, [](const entry& one) { return one.given > 0; });
  for (auto& one : served)
    if (one.left > 0)
      begun_.push_back(one);
  if (room_ == 0)
    for (auto& one : waiting_)
      ++one.passed_over;
  return chunk;
}

} // namespace perigee::prefill
