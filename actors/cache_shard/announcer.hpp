/// \file
/// announcer: what a shard tells the conductor of what is in it.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"
#include "actors/cache_shard/news.hpp"
#include "actors/interfaces.hpp"
#include "actors/report_pace.hpp"
#include "actors/runtime/desk.hpp"

#include <functional>

namespace perigee::shard {

/// Part of a shard's state. Each Stored and Evicted has the number after that of the
/// one before, so that the conductor sees a gap; a Snapshot has that of the latest, up
/// to which it holds.
class announcer {
public:
  /// Lets on_tick() be called at `due`, or later.
  using set_tick = std::function<void(std::chrono::nanoseconds due)>;

  announcer(rt::desk<shard_actor>& desk, conductor_name conductor,
            std::chrono::nanoseconds every, set_tick set)
    : desk_(desk), conductor_(conductor), set_tick_(std::move(set)), pace_(every) {}

  void moved(const block_key& key, place from, place to) {
    news_.moved(key, from, to);
  }

  /// Says what is new, or sees to it that on_tick() does.
  void announce();
  void on_tick();

  /// Says all that is here, after what is new: what is in memory, and what is on the
  /// disk alone.
  void recount(const block_chain& in_memory, const block_chain& on_disk);

private:
  void send_news();

  template <class T, class Fill>
  void tell(std::span<const block_key> keys, Fill fill);

  rt::desk<shard_actor>& desk_;
  conductor_name conductor_;
  set_tick set_tick_;
  news news_;
  report_pace pace_;
  std::uint64_t told_total_ = 0; // Stored and Evicted
};

} // namespace perigee::shard
