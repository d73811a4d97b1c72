/// \file
/// ssd_tier: where blocks fall that memory has no room for, and climb from again.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"
#include "actors/cache_shard/news.hpp"
#include "actors/cache_shard/probe.hpp"
#include "transport/disk/disk.hpp"

#include <functional>

namespace perigee::shard {

/// Part of a shard's state: a ledger of its own, over a disk's slots, and what is on its
/// way between both.
///
/// A block that falls is in neither ledger until it is written; its memory is free then.
/// One that climbs is leased on the disk until it has been read, and stays there. Memory
/// that is full is no reason to wait: who needs room evicts, and what had no time to
/// fall is gone.
class ssd_tier {
public:
  using moment = std::chrono::nanoseconds;

  struct surroundings {
    block_ledger& dram;
    probe& counts;

    /// An owner that nobody else has, in either ledger.
    std::function<owner_id()> next_owner;

    /// A key's block is elsewhere now.
    std::function<void(const block_key&, place from, place to)> moved;

    /// Lets run_to() be called at `due`, or later.
    std::function<void(moment due)> wake_at;
  };

  /// Keeps `spare` blocks of memory free, as far as others may be written.
  ssd_tier(surroundings in, std::shared_ptr<transport::disk> disk,
           std::unique_ptr<eviction_policy> policy, std::size_t spare);

  /// The faster place of those that it is in.
  place where(const block_key& key) const;

  bool has(const block_key& key) const {
    return ledger_.contains(key);
  }

  /// Lets blocks fall until there is spare memory again. After whatever has taken some.
  void make_spare(moment now);

  /// Reads as long a run of `chain` as is on the disk, from block `first` on, into
  /// memory. Calls `told` later, when that has ended, however it has; then the blocks
  /// that could be read are sealed. False, and it is not called, if there is nothing to
  /// read, or no room.
  bool climb(const block_key& root, std::span<const block_key> chain, std::size_t first,
             moment now, std::function<void()> told);

  void run_to(moment now);

  /// Shows the key of each block that is on the disk alone to `see(key)`.
  template <class See>
  void each_key(See see) const {
    ledger_.each_key([&](const block_key& key) {
      if (!in_.dram.contains(key))
        see(key);
    });
  }

  block_counts counts() const {
    return ledger_.counts();
  }

private:
  struct job {
    owner_id owner;
    transport::disk_job what;
    block_chain keys{};              // of its pairs, where it writes
    std::optional<lease_id> lease{}; // where it reads
    std::function<void()> told{};
  };

  bool fall_one(job& into);
  void evict_from_disk(const std::vector<block_key>& keys);
  bool begin(job one, moment now);
  void end(std::uint64_t id, bool ok);
  void end_write(const job& one, bool ok);
  void end_read(const job& one, bool ok);
  void watch();

  surroundings in_;
  std::shared_ptr<transport::disk> disk_;
  block_ledger ledger_; // of the disk's slots
  std::size_t spare_;
  std::size_t falling_ = 0; // blocks
  std::map<std::uint64_t, job> jobs_;
  std::uint64_t jobs_total_ = 0;
  std::optional<moment> timer_; // when it is due, if one is set
};

} // namespace perigee::shard
