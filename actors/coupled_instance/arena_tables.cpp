#include "actors/coupled_instance/arena_tables.hpp"

#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::coupled {

arena_tables::arena_tables(std::uint32_t blocks, std::uint32_t block_tokens, bool keeps)
  : ledger_(blocks, shard::make_eviction_policy("lru")), blocks_total_(blocks),
    block_tokens_(block_tokens), keeps_(keeps) {}

std::size_t arena_tables::available() const {
  auto now = ledger_.counts();
  return now.free + now.sealed - now.leased;
}

std::size_t arena_tables::usable_blocks(const sequence& text) const {
  if (!keeps_ || !text.may_reuse())
    return 0;
  return std::min<std::size_t>(text.keys().size(), (text.size() - 1) / block_tokens_);
}

std::uint32_t arena_tables::cached(const sequence& text) const {
  std::uint32_t blocks = 0;
  auto most = usable_blocks(text);
  while (blocks < most && ledger_.contains(text.keys()[blocks]))
    ++blocks;
  return blocks * block_tokens_;
}

std::optional<arena_tables::opened>
arena_tables::open(const sequence& text, std::uint32_t fresh_max, std::size_t spare) {
  table made;
  auto most = usable_blocks(text);
  if (most > 0)
    if (auto lent = ledger_.lend(std::span{text.keys()}.first(most))) {
      made.lease = lent->id;
      made.blocks = std::move(lent->blocks);
    }
  made.stored = made.blocks.size();
  made.is_lent.assign(made.blocks.size(), true);
  auto cached = static_cast<std::uint32_t>(made.blocks.size()) * block_tokens_;
  auto covered = cached + std::min(text.size() - cached, fresh_max);
  auto lacking = blocks_for(covered) - made.blocks.size();
  auto id = tables_made_ + 1;
  if (lacking + spare > available() || !take(id, made, lacking)) {
    if (made.lease)
      ledger_.release(*made.lease);
    return std::nullopt;
  }
  tables_made_ = id;
  tables_.emplace(id, std::move(made));
  return opened{id, cached};
}

/// All, or none.
bool arena_tables::take(table_id id, table& into, std::size_t blocks) {
  auto given = ledger_.reserve(shard::owner_id{id}, blocks);
  for (const auto& key : given.evicted)
    changes_.evicted(key);
  if (given.ran_out)
    return false;
  for (const auto& item : given.items) {
    into.blocks.push_back(item.block);
    into.is_lent.push_back(false);
  }
  return true;
}

bool arena_tables::grow(table_id id, std::uint32_t tokens) {
  auto& one = tables_.at(id);
  auto wanted = blocks_for(tokens);
  return wanted <= one.blocks.size() || take(id, one, wanted - one.blocks.size());
}

void arena_tables::store(table_id id, const sequence& text, std::uint32_t computed) {
  if (!keeps_)
    return;
  auto& one = tables_.at(id);
  auto full = std::min<std::size_t>(computed / block_tokens_, text.keys().size());
  for (; one.stored < full; ++one.stored) {
    if (!one.lease)
      one.lease = ledger_.open_lease();
    const auto& key = text.keys()[one.stored];
    auto sealed = ledger_.seal_into(
      *one.lease, one.blocks[one.stored], shard::owner_id{id},
      {text.parent_of(one.stored), static_cast<std::uint32_t>(one.stored), {&key, 1}});
    PERIGEE_ASSERT(sealed, "a block that was its own");
    if (*sealed != shard::sealing::stored)
      continue; // somebody was faster; this one stays private
    one.is_lent[one.stored] = true;
    changes_.stored(key);
  }
}

void arena_tables::close(table_id id) {
  auto gone = tables_.extract(id);
  PERIGEE_ASSERT(!gone.empty(), "a table that is open");
  const auto& one = gone.mapped();
  for (std::size_t i = 0; i < one.blocks.size(); ++i)
    if (!one.is_lent[i]) {
      auto freed = ledger_.free(one.blocks[i], shard::owner_id{id});
      PERIGEE_ASSERT(freed, "a block that was its own");
    }
  if (one.lease)
    ledger_.release(*one.lease);
}

} // namespace perigee::coupled
