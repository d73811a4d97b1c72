/// \file
/// lone_pool: what one pool of blocks would spare, if it were the only one.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"

namespace perigee::shard {

/// A ledger to which chains come one after the other, each read and written whole before
/// the next: capacity and eviction alone decide what is found. Pure.
class lone_pool {
public:
  lone_pool(std::uint32_t blocks, std::unique_ptr<eviction_policy> policy)
    : ledger_(blocks, std::move(policy)) {}

  /// How many of `chain`'s first blocks were here. Afterwards all of it is, or as much
  /// from its front as the pool can hold.
  std::size_t serve(std::span<const block_key> chain);

  const block_ledger& ledger() const {
    return ledger_;
  }

private:
  block_ledger ledger_;
  std::uint64_t served_ = 0;
};

} // namespace perigee::shard
