#include "actors/conductor/prefix_index.hpp"

#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::conductor {
namespace {

std::size_t number(tenure_id id) {
  return static_cast<std::size_t>(id);
}

/// A shard that holds every block so far.
struct runner {
  tenure_id who;
  std::uint32_t blocks_on_disk;
};

} // namespace

std::size_t prefix_index::store(node_index shard, tier where,
                                std::span<const block_key> keys) {
  auto id = tenure_of(shard);
  std::size_t recorded = 0;
  for (const auto& key : keys) {
    auto known = holders_.find(key);
    if (known == holders_.end()) {
      if (holders_.size() >= keys_max_)
        continue;
      known = holders_.try_emplace(key).first;
    }
    drop_past(known->second);
    tenures_[number(id)].blocks += known->second.add({id, where});
    ++recorded;
  }
  return recorded;
}

void prefix_index::evict(node_index shard, std::span<const block_key> keys) {
  auto held = current_.find(shard);
  if (held == current_.end())
    return;
  for (const auto& key : keys) {
    auto known = holders_.find(key);
    if (known == holders_.end())
      continue;
    tenures_[number(held->second)].blocks -= known->second.remove(held->second);
    drop_past(known->second);
    if (known->second.empty())
      holders_.erase(known);
  }
}

std::vector<run> prefix_index::runs(std::span<const block_key> chain) const {
  std::vector<run> ended;
  std::vector<runner> running;
  std::uint32_t block = 0;
  auto end = [&](const runner& one) {
    ended.push_back({tenures_[number(one.who)].shard, block, one.blocks_on_disk});
  };
  for (const auto& key : chain) {
    auto known = holders_.find(key);
    if (known == holders_.end())
      break;
    auto here = known->second.all();
    if (block == 0)
      for (const auto& one : here)
        if (tenures_[number(one.who())].current)
          running.push_back({one.who(), 0});
    auto next
      = here.begin(); // both are ordered by tenure: one walk finds who is in both
    std::erase_if(running, [&](runner& one) {
      while (next != here.end() && next->who() < one.who)
        ++next;
      if (next == here.end() || next->who() != one.who) {
        end(one);
        return true;
      }
      one.blocks_on_disk += next->where() == tier::ssd;
      return false;
    });
    if (running.empty())
      break;
    ++block;
  }
  for (const auto& one : running)
    end(one);
  std::erase_if(ended, [](const run& one) { return one.blocks == 0; });
  std::sort(ended.begin(), ended.end(),
            [](const run& a, const run& b) { return a.shard < b.shard; });
  return ended;
}

std::size_t prefix_index::forget(node_index shard) {
  auto held = current_.find(shard);
  if (held == current_.end())
    return 0;
  auto id = held->second;
  current_.erase(held);
  auto& past = tenures_[number(id)];
  past.current = false;
  past_blocks_ += past.blocks;
  if (past.blocks == 0)
    free_tenures_.push_back(id);
  return past.blocks;
}

bool prefix_index::tidy(std::size_t buckets) {
  std::vector<block_key> empty;
  for (; buckets > 0 && past_blocks_ > 0; --buckets) {
    if (next_bucket_ >= holders_.bucket_count())
      next_bucket_ = 0; // the table may have grown, and moved what was passed
    for (auto at = holders_.begin(next_bucket_); at != holders_.end(next_bucket_);
         ++at) {
      drop_past(at->second);
      if (at->second.empty())
        empty.push_back(at->first);
    }
    ++next_bucket_;
  }
  for (const auto& key : empty)
    holders_.erase(key);
  return past_blocks_ == 0;
}

std::size_t prefix_index::held_by(node_index shard) const {
  auto held = current_.find(shard);
  return held == current_.end() ? 0 : tenures_[number(held->second)].blocks;
}

tenure_id prefix_index::tenure_of(node_index shard) {
  auto [held, is_new] = current_.try_emplace(shard);
  if (!is_new)
    return held->second;
  if (free_tenures_.empty() && tenures_.size() == tenures_max)
    while (!tidy(std::size_t{1} << 16)) {
    }
  if (free_tenures_.empty()) {
    PERIGEE_ASSERT(tenures_.size() < tenures_max,
                   "more shards than a cluster may have");
    free_tenures_.push_back(tenure_id{static_cast<std::uint32_t>(tenures_.size())});
    tenures_.emplace_back();
  }
  held->second = free_tenures_.back();
  free_tenures_.pop_back();
  tenures_[number(held->second)] = {shard, true, 0};
  return held->second;
}

/// Whoever meets a record in passing takes the past out of it.
void prefix_index::drop_past(holder_set& some) {
  if (past_blocks_ == 0)
    return;
  some.remove_if([this](tenure_id id) {
    auto& one = tenures_[number(id)];
    if (one.current)
      return false;
    --past_blocks_;
    if (--one.blocks == 0)
      free_tenures_.push_back(id);
    return true;
  });
}

} // namespace perigee::conductor
