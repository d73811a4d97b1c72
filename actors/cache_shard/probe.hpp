/// \file
/// What a cache shard counts.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"
#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"

namespace perigee::shard {

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class probe {
public:
  void pinned(std::size_t blocks) noexcept {
    pins_total_.add();
    blocks_pinned_total_.add(blocks);
  }

  void missed() noexcept {
    pins_missed_total_.add();
  }

  void refused() noexcept {
    busy_total_.add();
  }

  void stored(std::size_t blocks) noexcept {
    blocks_stored_total_.add(blocks);
  }

  void found_duplicates(std::size_t blocks) noexcept {
    blocks_duplicate_total_.add(blocks);
  }

  void evicted(std::size_t blocks) noexcept {
    blocks_evicted_total_.add(blocks);
  }

  void lease_expired() noexcept {
    leases_expired_total_.add();
  }

  void grant_overdue() noexcept {
    grants_overdue_total_.add();
  }

  void dropped_stale() noexcept {
    stale_total_.add();
  }

  void holds(const block_counts& now) noexcept {
    blocks_free_.set(now.free);
    blocks_writing_.set(now.writing);
    blocks_sealed_.set(now.sealed);
    blocks_leased_.set(now.leased);
    blocks_kept_.set(now.kept);
  }

  /// Shows each number to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    see("blocks_free", "Blocks nobody uses", blocks_free_.value());
    see("blocks_writing", "Blocks that somebody writes", blocks_writing_.value());
    see("blocks_sealed", "Blocks that can be read", blocks_sealed_.value());
    see("blocks_leased", "Those of them that somebody may read now",
        blocks_leased_.value());
    see("blocks_kept", "Private blocks of parked sequences", blocks_kept_.value());
    see("pins_total", "Prefixes leased", pins_total_.value());
    see("blocks_pinned_total", "Blocks in those", blocks_pinned_total_.value());
    see("pins_missed_total", "Prefixes asked for of which nothing was here",
        pins_missed_total_.value());
    see("busy_total", "Askers refused: no room, or too many of them",
        busy_total_.value());
    see("blocks_stored_total", "Blocks sealed under a key",
        blocks_stored_total_.value());
    see("blocks_duplicate_total", "Blocks written in vain: somebody was faster",
        blocks_duplicate_total_.value());
    see("blocks_evicted_total", "Blocks evicted to make room",
        blocks_evicted_total_.value());
    see("leases_expired_total", "Leases that were not returned",
        leases_expired_total_.value());
    see("grants_overdue_total", "Writers who took longer than they had",
        grants_overdue_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer, or too late",
        stale_total_.value());
  }

private:
  rt::gauge blocks_free_, blocks_writing_, blocks_sealed_, blocks_leased_, blocks_kept_;
  rt::counter pins_total_, blocks_pinned_total_, pins_missed_total_, busy_total_;
  rt::counter blocks_stored_total_, blocks_duplicate_total_, blocks_evicted_total_;
  rt::counter leases_expired_total_, grants_overdue_total_, stale_total_;
};

} // namespace perigee::shard
