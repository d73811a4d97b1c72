#include "actors/cache_shard/block_ledger.hpp"

#include "schemas/assert.hpp"

namespace perigee::shard {

block_ledger::block_ledger(std::uint32_t blocks,
                           std::unique_ptr<eviction_policy> policy)
  : policy_(std::move(policy)), blocks_(blocks) {
  PERIGEE_ASSERT(policy_, "a ledger without an eviction policy");
  free_.reserve(blocks);
  for (block_number block = blocks; block-- > 0;)
    free_.push_back(block); // so that the lowest goes first
  counts_.free = blocks;
}

// -- keys ---------------------------------------------------------------------

const block_ledger::key_record* block_ledger::find(const block_key& key) const {
  auto at = keys_.find(key);
  return at == keys_.end() ? nullptr : &at->second;
}

std::optional<block_number> block_ledger::sealed_under(const block_key& key) const {
  const auto* known = find(key);
  return known ? known->sealed : std::nullopt;
}

/// The record comes with its first count, and goes with its last.
template <class Change>
void block_ledger::change(const block_key& key, Change how) {
  auto at = keys_.try_emplace(key).first;
  how(at->second);
  if (at->second.is_blank())
    keys_.erase(at);
}

// -- room ---------------------------------------------------------------------

bool block_ledger::is_evictable(const entry& one) const {
  return one.now == state::sealed && one.leases == 0 && find(one.key)->children == 0;
}

/// After anything that decides about its eviction has changed.
void block_ledger::rank_anew(block_number block) {
  auto& one = blocks_[block];
  if (one.rank)
    evictable_.erase({*one.rank, block});
  one.rank.reset();
  if (!is_evictable(one))
    return;
  one.rank = policy_->rank(one.use);
  evictable_.emplace(*one.rank, block);
}

void block_ledger::rank_anew(const block_key& key) {
  if (auto block = sealed_under(key))
    rank_anew(*block);
}

/// Keeps the block of `key`, if it is here, from eviction until unguard(), and counts
/// that as its use.
std::optional<block_number> block_ledger::guard(const block_key& key) {
  auto block = sealed_under(key);
  if (!block)
    return std::nullopt;
  auto& one = blocks_[*block];
  ++one.leases;
  one.use.last = touches_;
  rank_anew(*block);
  return block;
}

void block_ledger::unguard(std::span<const block_number> guarded) {
  for (auto block : guarded) {
    --blocks_[block].leases;
    rank_anew(block);
  }
}

bool block_ledger::make_room(std::vector<block_key>& evicted) {
  if (!free_.empty())
    return true;
  if (evictable_.empty())
    return false;
  auto block = evictable_.begin()->second;
  evicted.push_back(blocks_[block].key);
  set_free(block);
  return true;
}

std::optional<block_ledger::outcast> block_ledger::evict_to(owner_id owner) {
  if (evictable_.empty())
    return std::nullopt;
  auto block = evictable_.begin()->second;
  const auto& one = blocks_[block];
  outcast out{block, one.key, one.parent, one.use.depth};
  set_free(block); // which is the next to be taken
  take_free(owner);
  return out;
}

block_number block_ledger::take_free(owner_id owner) {
  auto block = free_.back();
  free_.pop_back();
  blocks_[block] = {.now = state::writing, .owner = owner};
  --counts_.free;
  ++counts_.writing;
  return block;
}

void block_ledger::set_free(block_number block) {
  auto old = std::exchange(blocks_[block], entry{});
  if (old.rank)
    evictable_.erase({*old.rank, block});
  switch (old.now) {
    case state::writing:
      --counts_.writing;
      if (old.has_key)
        change(old.key, [](auto& key) { --key.writers; });
      break;
    case state::sealed:
      --counts_.sealed;
      change(old.key, [](auto& key) { key.sealed.reset(); });
      change(old.parent, [](auto& key) { --key.children; });
      rank_anew(old.parent);
      break;
    case state::kept: --counts_.kept; break;
    case state::free: PERIGEE_ASSERT(false, "a block is freed twice");
  }
  ++counts_.free;
  free_.push_back(block);
}

// -- writing ------------------------------------------------------------------

block_ledger::reservation block_ledger::reserve(owner_id owner, std::size_t blocks) {
  reservation got;
  got.ran_out = blocks > counts_.free + counts_.sealed - counts_.leased;
  if (got.ran_out)
    return got;
  for (std::uint32_t index = 0; index < blocks; ++index)
    if (make_room(got.evicted))
      got.items.push_back({index, take_free(owner)});
  if (got.items.size() == blocks)
    return got;
  // Blocks that nobody needs stand before leased ones: a chain was lent from its
  // middle.
  for (auto [index, block] : got.items)
    set_free(block);
  got.items.clear();
  got.ran_out = true;
  return got;
}

block_ledger::reservation block_ledger::reserve(owner_id owner,
                                                const chain_piece& piece) {
  ++touches_;
  std::vector<block_number> guarded;
  auto is_here = [&](const block_key& key) {
    auto block = guard(key);
    if (block)
      guarded.push_back(*block);
    return block.has_value();
  };
  is_here(piece.parent);
  reservation got;
  const auto* parent = &piece.parent;
  for (std::uint32_t index = 0; index < piece.keys.size(); ++index) {
    const auto& key = piece.keys[index];
    if (!is_here(key) && is_wanted(key)) {
      got.ran_out = !make_room(got.evicted);
      if (got.ran_out)
        break;
      auto block = take_free(owner);
      write_key(block, key, *parent, piece.depth + index);
      got.items.push_back({index, block});
    }
    parent = &key;
  }
  unguard(guarded);
  return got;
}

void block_ledger::write_key(block_number block, const block_key& key,
                             const block_key& parent, std::uint32_t depth) {
  auto& one = blocks_[block];
  one.has_key = true;
  one.key = key;
  one.parent = parent;
  one.use.depth = depth;
  change(key, [](auto& of_it) { ++of_it.writers; });
}

bool block_ledger::is_wanted(const block_key& key) const {
  const auto* known = find(key);
  return !known || known->writers < writers_per_key_max;
}

result<sealing, ledger_fault> block_ledger::seal(block_number block, owner_id owner) {
  if (block >= blocks_.size())
    return failure(ledger_fault::not_yours);
  auto& one = blocks_[block];
  if (one.now != state::writing || one.owner != owner)
    return failure(ledger_fault::not_yours);
  if (!one.has_key) {
    one.now = state::kept;
    --counts_.writing;
    ++counts_.kept;
    return sealing::kept;
  }
  if (contains(one.key)) {
    set_free(block);
    return sealing::duplicate;
  }
  seal_as_keyed(block);
  return sealing::stored;
}

void block_ledger::seal_as_keyed(block_number block) {
  auto& one = blocks_[block];
  change(one.key, [&](auto& key) {
    --key.writers;
    key.sealed = block;
  });
  change(one.parent, [](auto& key) { ++key.children; });
  one.now = state::sealed;
  one.use.last = ++touches_;
  --counts_.writing;
  ++counts_.sealed;
  rank_anew(one.parent);
  rank_anew(block);
}

result<void, ledger_fault> block_ledger::free(block_number block, owner_id owner) {
  if (block >= blocks_.size())
    return failure(ledger_fault::not_yours);
  const auto& one = blocks_[block];
  bool his = one.now == state::writing || one.now == state::kept;
  if (!his || one.owner != owner)
    return failure(ledger_fault::not_yours);
  set_free(block);
  return {};
}

// -- reading ------------------------------------------------------------------

std::optional<block_ledger::lease>
block_ledger::lend(std::span<const block_key> chain) {
  lease given;
  for (const auto& key : chain) {
    auto block = sealed_under(key);
    if (!block)
      break;
    if (!given.blocks.empty()
        && blocks_[*block].parent != blocks_[given.blocks.back()].key)
      break;
    given.blocks.push_back(*block);
  }
  if (given.blocks.empty())
    return std::nullopt;
  given.id = lease_id{++leases_total_};
  ++touches_;
  for (auto block : given.blocks) {
    auto& one = blocks_[block];
    counts_.leased += ++one.leases == 1;
    one.use.last = touches_;
    ++one.use.uses;
    rank_anew(block);
  }
  leases_.emplace(given.id, given.blocks);
  return given;
}

lease_id block_ledger::open_lease() {
  auto id = lease_id{++leases_total_};
  leases_.emplace(id, std::vector<block_number>{});
  return id;
}

result<sealing, ledger_fault> block_ledger::seal_into(lease_id id, block_number block,
                                                      owner_id owner,
                                                      const chain_piece& as) {
  PERIGEE_ASSERT(as.keys.size() == 1, "a block has one key");
  auto with = leases_.find(id);
  if (with == leases_.end() || block >= blocks_.size())
    return failure(ledger_fault::not_yours);
  auto& one = blocks_[block];
  if (one.now != state::writing || one.owner != owner || one.has_key)
    return failure(ledger_fault::not_yours);
  if (contains(as.keys.front()))
    return sealing::duplicate;
  write_key(block, as.keys.front(), as.parent, as.depth);
  one.leases = 1;
  ++counts_.leased;
  seal_as_keyed(block);
  with->second.push_back(block);
  return sealing::stored;
}

bool block_ledger::release(lease_id id) {
  auto given = leases_.extract(id);
  if (given.empty())
    return false;
  for (auto block : given.mapped()) {
    counts_.leased -= --blocks_[block].leases == 0;
    rank_anew(block);
  }
  return true;
}

block_counts block_ledger::counts() const {
  return counts_;
}

} // namespace perigee::shard
