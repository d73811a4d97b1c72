/// \file
/// block_ledger: who may read and write which block of an arena.
#pragma once

#include "actors/cache_shard/eviction_policy.hpp"
#include "schemas/result.hpp"
#include "schemas/vocabulary.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace perigee::shard {

/// Position of a block in its arena.
using block_number = std::uint32_t;

/// Who writes blocks, or keeps private ones. Whoever has the ledger chooses, and never
/// the same again: so a late word of an earlier owner fits nothing.
enum class owner_id : std::uint64_t {};

enum class lease_id : std::uint64_t {};

/// A piece of one chain, as it is stored.
struct chain_piece {
  block_key parent;        ///< Of the first of `keys`.
  std::uint32_t depth = 0; ///< Blocks before that one in the chain.
  std::span<const block_key> keys;
};

/// free + writing + sealed + kept is always the capacity.
struct block_counts {
  std::size_t free = 0;
  std::size_t writing = 0;
  std::size_t sealed = 0;
  std::size_t kept = 0;   ///< Private.
  std::size_t leased = 0; ///< Of the sealed ones.

  bool operator==(const block_counts&) const = default;
};

enum class ledger_fault : std::uint8_t {
  not_yours = 1, ///< The block is not in that state, or not that owner's.
};

/// What a seal came to.
enum class sealing : std::uint8_t {
  stored,    ///< The block can be read under its key.
  duplicate, ///< Somebody was faster: this block is free, the older one stays.
  kept,      ///< It has no key: it stays its owner's until he frees it.
};

/// The states of an arena's blocks: free, writing(owner), then sealed(key, leases) or
/// kept(owner), and free again.
///
/// A block that is being written is not given to anybody else until its owner has
/// sealed or freed it: he says so when nobody will write there any more. Only sealed
/// blocks are found, leased and evicted. A block is evicted only while nobody has a
/// lease on it and none that is here follows it in its chain: so chains shrink from
/// their tails.
///
/// Pure: no actor, no clock, no I/O. One owner, not thread-safe.
/// Memory: some 250 B a block. Cost: a few lookups for each block that a call names.
class block_ledger {
public:
  /// Of a key that several are computing at the same time, so many are let write.
  static constexpr std::uint32_t writers_per_key_max = 2;

  block_ledger(std::uint32_t blocks, std::unique_ptr<eviction_policy> policy);

  struct reservation {
    struct item {
      std::uint32_t index; ///< In the piece's keys; or from 0 on.
      block_number block;
    };
    std::vector<item> items;
    std::vector<block_key> evicted; ///< To make room, in this order.
    bool ran_out = false;           ///< There was no room for all that was wanted.
  };

  /// `blocks` blocks without a key: all, or none if that many can't be had.
  reservation reserve(owner_id owner, std::size_t blocks);

  /// A block for each key of `piece` that is neither here nor being written often
  /// enough, from the front on, while there is room. What of the piece is here, and its
  /// parent, is not evicted to make that.
  reservation reserve(owner_id owner, const chain_piece& piece);

  /// The owner has written the block. Refuses with not_yours.
  result<sealing, ledger_fault> seal(block_number block, owner_id owner);

  /// The owner writes the block no more, or needs no more what he kept. Refuses with
  /// not_yours.
  result<void, ledger_fault> free(block_number block, owner_id owner);

  struct lease {
    lease_id id{};
    std::vector<block_number> blocks; ///< The first ones of the chain, in order.
  };

  /// Leases as long a run from the front of `chain` as is here, each stored as what
  /// follows the one before. Nothing if not even the first is here. The blocks stay
  /// until release().
  std::optional<lease> lend(std::span<const block_key> chain);

  /// A lease on no block yet: see seal_into().
  lease_id open_lease();

  /// The owner has written `block`, which has no key, and goes on reading it: it is
  /// stored under the key of `as`, a piece of one, and joins the lease. A duplicate
  /// does not, and stays his. Refuses with not_yours, also of a lease that is not
  /// there.
  result<sealing, ledger_fault> seal_into(lease_id id, block_number block,
                                          owner_id owner, const chain_piece& as);

  /// False if there is no such lease.
  bool release(lease_id id);

  bool contains(const block_key& key) const {
    return sealed_under(key).has_value();
  }

  /// Of a sealed block; nothing of any other.
  std::optional<block_key> key_of(block_number block) const {
    if (block >= blocks_.size() || blocks_[block].now != state::sealed)
      return std::nullopt;
    return blocks_[block].key;
  }

  /// Shows the key of every sealed block to `see(key)`, by block number.
  template <class See>
  void each_key(See see) const {
    for (const auto& one : blocks_)
      if (one.now == state::sealed)
        see(one.key);
  }

  /// A block that is in the ledger no more, but for its bytes.
  struct outcast {
    block_number block;
    block_key key;
    block_key parent;
    std::uint32_t depth; ///< Blocks before it in its chain.
  };

  /// Evicts what is to go first, but leaves the block to `owner`, as one without a key
  /// that he writes, until he frees it. Nothing if none can go.
  std::optional<outcast> evict_to(owner_id owner);

  block_counts counts() const;

  std::size_t leases() const {
    return leases_.size();
  }

private:
  enum class state : std::uint8_t { free, writing, sealed, kept };

  struct entry {
    state now = state::free;
    bool has_key = false;
    std::uint32_t leases = 0;
    owner_id owner{};
    block_key key{};
    block_key parent{};
    block_use use{};
    std::optional<eviction_rank> rank{}; // as it stands in evictable_
  };

  /// What there is of one key.
  struct key_record {
    std::optional<block_number> sealed{};
    std::uint32_t writers = 0;  // blocks being written under it
    std::uint32_t children = 0; // blocks that follow it, sealed

    bool is_blank() const {
      return !sealed && writers == 0 && children == 0;
    }
  };

  const key_record* find(const block_key& key) const;
  std::optional<block_number> sealed_under(const block_key& key) const;
  template <class Change>
  void change(const block_key& key, Change how);
  bool is_evictable(const entry& one) const;
  void rank_anew(block_number block);
  void rank_anew(const block_key& key);
  std::optional<block_number> guard(const block_key& key);
  void unguard(std::span<const block_number> guarded);
  void write_key(block_number block, const block_key& key, const block_key& parent,
                 std::uint32_t depth);
  bool make_room(std::vector<block_key>& evicted);
  block_number take_free(owner_id owner);
  void set_free(block_number block);
  void seal_as_keyed(block_number block);
  bool is_wanted(const block_key& key) const;

  std::unique_ptr<eviction_policy> policy_;
  std::vector<entry> blocks_;
  std::vector<block_number> free_; // the last goes first
  boost::unordered_flat_map<block_key, key_record, std::hash<block_key>>
    keys_; // of those that are not blank
  std::set<std::pair<eviction_rank, block_number>> evictable_;
  std::map<lease_id, std::vector<block_number>> leases_;
  block_counts counts_;
  std::uint64_t leases_total_ = 0;
  std::uint64_t touches_ = 0;
};

} // namespace perigee::shard
