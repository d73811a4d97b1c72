/// \file
/// climb_book: askers who wait until blocks have been read from the disk.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"
#include "actors/cache_shard/ssd_tier.hpp"
#include "actors/runtime/msg.hpp"
#include "schemas/cache.capnp.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>

namespace perigee::shard {

/// Part of a shard's state. What is in memory of what was asked for stays there until
/// the rest has come, or the asker has waited long enough.
class climb_book {
public:
  using nanoseconds = std::chrono::nanoseconds;

  /// An asker, and what is held for him.
  struct climb {
    Msg<schema::Pin> wish;
    std::optional<block_ledger::lease> held;
  };

  /// So many wait at once, and nobody longer than `limit`.
  climb_book(block_ledger& dram, std::size_t most, nanoseconds limit)
    : dram_(dram), most_(most), limit_(limit) {}

  /// Has `from` read what of `chain` follows upon what was `found`, and calls `ended`
  /// later; false, and it is not called, if nothing does, or too many wait. `mine` is new.
  bool begin(ssd_tier& from, std::uint64_t mine, const Msg<schema::Pin>& wish,
             const block_chain& chain, const std::optional<block_ledger::lease>& found,
             nanoseconds now, std::function<void()> ended);

  /// How long he waits: he shall hear before he gives up.
  nanoseconds limit_of(const Msg<schema::Pin>& wish) const;

  /// Who waits under that number; nothing if nobody does any more.
  std::optional<climb> take(std::uint64_t which);

  /// All that is in memory now of what he asked for, in place of what was held.
  std::optional<block_ledger::lease> lend_all(const climb& one);

private:
  block_ledger& dram_;
  const std::size_t most_;
  const nanoseconds limit_;
  std::map<std::uint64_t, climb> open_;
};

} // namespace perigee::shard
