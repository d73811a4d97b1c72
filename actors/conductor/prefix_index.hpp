/// \file
/// Which shards hold the KV blocks of which prompt prefix.
#pragma once

#include "actors/conductor/holder_set.hpp"
#include "schemas/vocabulary.hpp"

#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace perigee::conductor {

/// A run of blocks from the front of a chain, all of which one shard holds.
struct run {
  node_index shard{};
  std::uint32_t blocks = 0;
  std::uint32_t blocks_on_disk = 0; ///< Of those.

  bool operator==(const run&) const = default;
};

/// Maps block keys to the shards that hold them, and in which tier.
///
/// The index is a hint: a shard may have evicted a block since, and says so when asked
/// to pin it. A lost entry costs a recomputation, never a wrong answer.
///
/// Pure: no actor, no clock, no I/O. One owner, not thread-safe. Every answer is in the
/// order of shards. Memory: about 56 B for each key, and 4 B for each holder of a key
/// that has several.
class prefix_index {
public:
  explicit prefix_index(std::size_t keys_max) : keys_max_(keys_max) {}

  /// Records that `shard` holds `keys` in `where`, and in no other tier that counts.
  /// Returns how many of them are recorded now: fewer than there are if the index is
  /// full. Cost: one lookup a key.
  std::size_t store(node_index shard, tier where, std::span<const block_key> keys);

  /// Records that `shard` holds `keys` no longer.
  void evict(node_index shard, std::span<const block_key> keys);

  /// For each shard that holds the front of `chain`: how long a run from there it
  /// holds. Shards that lack the first block are left out. Ordered by shard. Cost: one
  /// lookup for each block of the longest run, and one more.
  std::vector<run> runs(std::span<const block_key> chain) const;

  /// Forgets all that `shard` holds. Returns how many blocks that was. Cost: a constant
  /// now; the memory is given back by later calls of tidy().
  std::size_t forget(node_index shard);

  /// Gives back the memory of what was forgotten, some `buckets` of the index at a
  /// time. True once there is nothing left to give back.
  bool tidy(std::size_t buckets);

  /// Blocks that `shard` holds.
  std::size_t held_by(node_index shard) const;

  /// Keys with a record, those that are forgotten but not given back among them.
  std::size_t size() const noexcept {
    return holders_.size();
  }

private:
  /// One time that a shard was heard of; after forget() it gets another.
  struct tenure {
    node_index shard{};
    bool current = false;
    std::size_t blocks = 0; // records that name this tenure
  };

  tenure_id tenure_of(node_index shard);
  void drop_past(holder_set& some);

  std::size_t keys_max_;
  std::unordered_map<block_key, holder_set> holders_;
  std::vector<tenure> tenures_; // by tenure_id
  std::map<node_index, tenure_id> current_;
  std::vector<tenure_id> free_tenures_;
  std::size_t past_blocks_ = 0; // records that name a tenure of the past
  std::size_t next_bucket_ = 0;
};

} // namespace perigee::conductor
