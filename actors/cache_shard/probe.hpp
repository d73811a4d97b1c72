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

  void read_from_ssd(std::size_t blocks) noexcept {
    ssd_reads_total_.add();
    blocks_climbed_total_.add(blocks);
  }

  void written_to_ssd(std::size_t blocks) noexcept {
    ssd_writes_total_.add();
    blocks_fallen_total_.add(blocks);
  }

  void fell_off_ssd(std::size_t blocks) noexcept {
    blocks_fallen_off_total_.add(blocks);
  }

  void ssd_failed() noexcept {
    ssd_faults_total_.add();
  }

  void ssd_was_slow() noexcept {
    climbs_late_total_.add();
  }

  void ssd_holds(const block_counts& now) noexcept {
    blocks_ssd_.set(now.sealed);
    blocks_ssd_moving_.set(now.writing + now.leased);
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

  void withholds(std::size_t blocks) noexcept {
    blocks_withheld_.set(blocks);
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
    see("blocks_withheld", "Those of them that are for nobody, for now",
        blocks_withheld_.value());
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
    see("blocks_ssd", "Blocks that can be read from the SSD", blocks_ssd_.value());
    see("blocks_ssd_moving", "Blocks on their way to the SSD or from it",
        blocks_ssd_moving_.value());
    see("ssd_reads_total", "Reads from the SSD", ssd_reads_total_.value());
    see("ssd_writes_total", "Writes to the SSD", ssd_writes_total_.value());
    see("blocks_climbed_total", "Blocks read from the SSD for who asked for them",
        blocks_climbed_total_.value());
    see("blocks_fallen_total", "Blocks written to the SSD to make room",
        blocks_fallen_total_.value());
    see("blocks_fallen_off_total", "Blocks evicted from the SSD to make room there",
        blocks_fallen_off_total_.value());
    see("ssd_faults_total", "Reads and writes that the SSD failed, or was too busy for",
        ssd_faults_total_.value());
    see("climbs_late_total", "Reads that who asked for them did not wait for",
        climbs_late_total_.value());
    see("leases_expired_total", "Leases that were not returned",
        leases_expired_total_.value());
    see("grants_overdue_total", "Writers who took longer than they had",
        grants_overdue_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer, or too late",
        stale_total_.value());
  }

private:
  rt::gauge blocks_free_, blocks_writing_, blocks_sealed_, blocks_leased_, blocks_kept_,
    blocks_withheld_;
  rt::counter pins_total_, blocks_pinned_total_, pins_missed_total_, busy_total_;
  rt::counter blocks_stored_total_, blocks_duplicate_total_, blocks_evicted_total_;
  rt::gauge blocks_ssd_, blocks_ssd_moving_;
  rt::counter ssd_reads_total_, ssd_writes_total_, blocks_climbed_total_;
  rt::counter blocks_fallen_total_, blocks_fallen_off_total_, ssd_faults_total_;
  rt::counter climbs_late_total_;
  rt::counter leases_expired_total_, grants_overdue_total_, stale_total_;
};

} // namespace perigee::shard
