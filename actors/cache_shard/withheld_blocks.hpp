/// \file
/// withheld_blocks: blocks of an arena that nobody may have.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"

namespace perigee::shard {

/// An owner that writes nothing, and frees what it no longer wants. Pure.
class withheld_blocks {
public:
  /// Nobody else has `as` in `of`, which outlives this.
  withheld_blocks(block_ledger& of, owner_id as) : ledger_(of), owner_(as) {}

  /// So many shall be withheld. Frees what is beyond that.
  void want(std::size_t blocks);

  /// Takes what is still wanted, as far as it can be had. Returns what was evicted for it.
  std::vector<block_key> take_more();

  std::size_t blocks() const {
    return taken_.size();
  }

private:
  block_ledger& ledger_;
  owner_id owner_;
  std::size_t wanted_ = 0;
  std::vector<block_number> taken_;
};

} // namespace perigee::shard
