/// \file
/// grant_book: who was given blocks to write, and who keeps them.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"
#include "actors/runtime/name.hpp"

namespace perigee::shard {

/// Whose the blocks are that an arena's ledger has in writing, or as kept: each grant's
/// number is the owner of its blocks there, and nobody else's.
///
/// Pure. The ledger outlives it; what it calls writing or kept changes here alone.
class grant_book {
public:
  using id = std::uint64_t;

  explicit grant_book(block_ledger& ledger) : ledger_(ledger) {}

  /// The ledger has reserved `got` for owner `mine`.
  void open(id mine, rt::actor_tag writer, const block_ledger::reservation& got);

  /// Whether `writer` is writing the blocks of `which`.
  bool is_writing(id which, rt::actor_tag writer) const;

  /// Whether `keeper` has written those, and keeps them.
  bool is_keeping(id which, rt::actor_tag keeper) const;

  struct sealed {
    block_chain stored; ///< Keys that can be read now.
    std::size_t duplicates = 0;
  };

  /// All of `which` is written. The grant ends, unless its blocks are private: then
  /// they are kept.
  sealed seal(id which);

  /// Nobody writes or reads there any more: its blocks are free.
  void end(id which);

  /// The same, of all that are `writer`'s. Returns which.
  std::vector<id> end_all_of(rt::actor_tag writer);

  std::size_t count_of(rt::actor_tag writer) const;

  /// Blocks of `which`, which is here.
  std::size_t blocks_of(id which) const {
    return grants_.at(which).blocks.size();
  }

  std::size_t size() const {
    return grants_.size();
  }

private:
  struct grant {
    rt::actor_tag writer{};
    std::vector<block_number> blocks{};
    bool is_kept = false;
  };

  block_ledger& ledger_;
  std::map<id, grant> grants_; // ordered: every walk is repeatable
};

} // namespace perigee::shard
