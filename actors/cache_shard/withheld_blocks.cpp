#include "actors/cache_shard/withheld_blocks.hpp"

#include "schemas/assert.hpp"

namespace perigee::shard {

void withheld_blocks::want(std::size_t blocks) {
  wanted_ = blocks;
  for (; taken_.size() > wanted_; taken_.pop_back()) {
    auto freed = ledger_.free(taken_.back(), owner_);
    PERIGEE_ASSERT(freed, "what was taken is still ours");
  }
}

std::vector<block_key> withheld_blocks::take_more() {
  std::vector<block_key> evicted;
  while (taken_.size() < wanted_) {
    auto got = ledger_.reserve(owner_, 1);
    if (got.items.empty())
      break;
    taken_.push_back(got.items.front().block);
    evicted.insert(evicted.end(), got.evicted.begin(), got.evicted.end());
  }
  return evicted;
}

} // namespace perigee::shard
