/// \file
/// What all shards hold, as they tell it.
#pragma once

#include "actors/conductor/instances.hpp"
#include "actors/conductor/prefix_index.hpp"
#include "actors/conductor/shard_feed.hpp"

#include <map>
#include <span>
#include <vector>

namespace perigee::conductor {

/// The prefix index, and how complete what came of each shard is. Pure.
class holdings {
public:
  /// What came of news.
  struct outcome {
    bool asks_recount = false; ///< Something is missing: the shard is to be asked.
    std::size_t left_out = 0;  ///< Blocks, because the index is full.
  };

  /// At most `keys_max` keys. A shard that was asked for a recount has `patience` to
  /// begin one before its news ask again.
  holdings(std::size_t keys_max, nanoseconds patience)
    : index_(keys_max), patience_(patience) {}

  /// A shard is there, and is asked for a recount now: an earlier conductor may have
  /// been told what it holds. Forgets what an earlier shard of the node held.
  void seat(node_index shard, moment now);

  /// Returns how many blocks are forgotten.
  std::size_t lose(node_index shard);

  outcome stored(node_index shard, std::uint64_t number, tier where,
                 std::span<const block_key> keys, moment now);
  outcome evicted(node_index shard, std::uint64_t number,
                  std::span<const block_key> keys, moment now);

  /// Whether `shard` is to be asked again for a recount that is late.
  bool asks_again(node_index shard, moment now);

  /// Whether a recount of `shard` is awaited.
  bool awaits_recount(node_index shard) const;

  /// One part of a recount.
  struct part {
    std::uint64_t number = 0;
    std::uint32_t place = 0; ///< Counts from 0.
    bool last = false;
  };
  outcome recounted(node_index shard, const part& which, tier where,
                    std::span<const block_key> keys, moment now);

  std::vector<run> runs(std::span<const block_key> chain) const {
    return index_.runs(chain);
  }

  std::size_t keys() const {
    return index_.size();
  }

private:
  /// What to do with news of `shard`; those of one that is not there are ignored.
  verdict judge(node_index shard, std::uint64_t number, moment now);
  std::size_t store(node_index shard, tier where, std::span<const block_key> keys);

  prefix_index index_;
  nanoseconds patience_;
  std::map<node_index, shard_feed> feeds_;
};

} // namespace perigee::conductor
