#include "actors/coupled_instance/cache_feed.hpp"

#include "schemas/convert.hpp"

#include <algorithm>

namespace perigee::coupled {
namespace {

/// Calls `use(part, is_last)`; not at all if there are no keys.
template <class Use>
void in_parts(std::span<const block_key> keys, Use use) {
  while (!keys.empty()) {
    auto part = keys.first(std::min(keys.size(), prompt_blocks_max));
    keys = keys.subspan(part.size());
    use(part, keys.empty());
  }
}

} // namespace

template <class T, class Fill>
void cache_feed::tell(std::span<const block_key> keys, Fill fill) {
  desk_.tell<T>(conductor_, rt::unprompted, [&](typename T::Builder said) {
    set_name(said.initShard(), desk_.me());
    said.setNumber(told_total_);
    auto all = said.initKeys(static_cast<unsigned>(keys.size()));
    for (unsigned i = 0; i < all.size(); ++i) {
      all[i].setHigh(keys[i].high);
      all[i].setLow(keys[i].low);
    }
    fill(said);
  });
}

void cache_feed::announce(prefix_news& changes) {
  if (changes.empty())
    return;
  if (pace_.changed(desk_.now()))
    send(changes);
  else if (auto due = pace_.take_tick())
    set_tick_(*due);
}

void cache_feed::on_tick(prefix_news& changes) {
  pace_.ticked(desk_.now());
  send(changes);
}

void cache_feed::send(prefix_news& changes) {
  auto all = changes.take();
  in_parts(all.evicted, [&](auto part, bool) {
    ++told_total_;
    tell<schema::Evicted>(part, [](auto) {});
  });
  in_parts(all.stored, [&](auto part, bool) {
    ++told_total_;
    tell<schema::Stored>(part, [](auto said) { said.setTier(schema::Tier::VRAM); });
  });
}

void cache_feed::recount(prefix_news& changes, const shard::block_ledger& ledger) {
  send(changes); // so that the count holds up to a number
  block_chain keys;
  ledger.each_key([&](const block_key& key) { keys.push_back(key); });
  std::uint32_t parts = 0;
  auto send_part = [&](std::span<const block_key> part, bool is_last) {
    tell<schema::Snapshot>(part, [&](schema::Snapshot::Builder said) {
      said.setTier(schema::Tier::VRAM);
      said.setPart(parts++);
      said.setLast(is_last);
    });
  };
  in_parts(keys, send_part);
  if (keys.empty())
    send_part({}, true);
}

} // namespace perigee::coupled
