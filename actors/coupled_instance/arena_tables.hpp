/// \file
/// arena_tables: which blocks of an arena each sequence has, and which of them others
/// may read, too.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"
#include "actors/coupled_instance/prefix_news.hpp"
#include "actors/coupled_instance/sequence.hpp"

#include <map>
#include <optional>

namespace perigee::coupled {

/// Names a table, and to the engine its sequence. 0 is none. None is given twice.
using table_id = std::uint64_t;

/// The block tables of the sequences in one arena, over one ledger.
///
/// If it keeps what was computed, a full block is found by its key as soon as it was
/// computed, by every sequence that begins alike: they share it. What nobody has in a
/// table any more stays until its place is needed, least recently used first, the tail
/// of a chain before its head. Else every block is free when its table is closed.
///
/// Pure. One owner. Cost: a few look-ups for each block named.
class arena_tables {
public:
  arena_tables(std::uint32_t blocks, std::uint32_t block_tokens, bool keeps);

  /// How many tokens of `text`, from its front on, need not be computed. Not all: what
  /// follows its last token is drawn from that.
  std::uint32_t cached(const sequence& text) const;

  struct opened {
    table_id id = 0;
    std::uint32_t cached_tokens = 0;
  };

  /// A table for what is cached of `text` and the next tokens of it, at most
  /// `fresh_max`. Nothing, and nothing is taken, if fewer than `spare` blocks would
  /// stay available.
  std::optional<opened> open(const sequence& text, std::uint32_t fresh_max,
                             std::size_t spare);

  /// Lets the table cover `tokens` positions. False, and it stays as it was, if there
  /// aren't enough blocks.
  bool grow(table_id id, std::uint32_t tokens);

  /// The KV of the first `computed` tokens of `text`, whose table it is, is there.
  void store(table_id id, const sequence& text, std::uint32_t computed);

  /// Its sequence needs it no more, and nobody writes there.
  void close(table_id id);

  const std::vector<std::uint32_t>& blocks_of(table_id id) const {
    return tables_.at(id).blocks;
  }

  /// Positions for which it has blocks.
  std::uint32_t positions_of(table_id id) const {
    return static_cast<std::uint32_t>(blocks_of(id).size()) * block_tokens_;
  }

  /// Blocks that are free, or would be for whoever needs them.
  std::size_t available() const;

  shard::block_counts counts() const {
    return ledger_.counts();
  }

  std::size_t blocks() const {
    return blocks_total_;
  }

  std::uint32_t block_tokens() const {
    return block_tokens_;
  }

  std::size_t blocks_for(std::uint32_t tokens) const {
    return (std::size_t{tokens} + block_tokens_ - 1) / block_tokens_;
  }

  /// What can be found by its key since it was last asked, and what no more.
  prefix_news& changes() {
    return changes_;
  }

  const shard::block_ledger& ledger() const {
    return ledger_;
  }

private:
  struct table {
    std::vector<std::uint32_t> blocks;
    std::vector<bool> is_lent;            // of each: others may read it, too
    std::optional<shard::lease_id> lease; // on those
    std::size_t stored = 0; // so many from the front need no look any more
  };

  bool take(table_id id, table& into, std::size_t blocks);
  std::size_t usable_blocks(const sequence& text) const;

  shard::block_ledger ledger_;
  const std::size_t blocks_total_;
  const std::uint32_t block_tokens_;
  const bool keeps_;
  std::map<table_id, table> tables_;
  table_id tables_made_ = 0;
  prefix_news changes_;
};

} // namespace perigee::coupled
