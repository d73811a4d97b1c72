/// \file
/// cache_feed: what a coupled instance tells the conductor of the prefixes in its arena.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"
#include "actors/coupled_instance/prefix_news.hpp"
#include "actors/interfaces.hpp"
#include "actors/report_pace.hpp"
#include "actors/runtime/desk.hpp"

#include <functional>

namespace perigee::coupled {

/// Part of an instance's state. Speaks as a shard does: numbered without a gap, on
/// change, and of all that is there when it is asked for a recount.
class cache_feed {
public:
  /// Lets on_tick() be called at `due`, or later.
  using set_tick = std::function<void(std::chrono::nanoseconds due)>;

  cache_feed(rt::desk<coupled_actor>& desk, conductor_name conductor,
             std::chrono::nanoseconds every, set_tick set)
    : desk_(desk), conductor_(conductor), set_tick_(std::move(set)), pace_(every) {}

  /// Says what is new, or sees to it that on_tick() does.
  void announce(prefix_news& changes);
  void on_tick(prefix_news& changes);

  /// Says all that is in `ledger`, after what is new.
  void recount(prefix_news& changes, const shard::block_ledger& ledger);

private:
  void send(prefix_news& changes);

  template <class T, class Fill>
  void tell(std::span<const block_key> keys, Fill fill);

  rt::desk<coupled_actor>& desk_;
  conductor_name conductor_;
  set_tick set_tick_;
  report_pace pace_;
  std::uint64_t told_total_ = 0; // Stored and Evicted
};

} // namespace perigee::coupled
