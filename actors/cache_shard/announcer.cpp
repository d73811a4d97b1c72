#include "actors/cache_shard/announcer.hpp"

#include "schemas/convert.hpp"

#include <algorithm>

namespace perigee::shard {
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
void announcer::tell(std::span<const block_key> keys, Fill fill) {
  constexpr bool is_news = !std::is_same_v<T, schema::Snapshot>;
  if constexpr (is_news)
    ++told_total_;
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

void announcer::announce() {
  if (news_.empty())
    return;
  if (pace_.changed(desk_.now()))
    send_news();
  else if (auto due = pace_.take_tick())
    set_tick_(*due);
}

void announcer::on_tick() {
  pace_.ticked(desk_.now());
  send_news();
}

void announcer::send_news() {
  auto all = news_.take();
  in_parts(all.evicted,
           [&](auto part, bool) { tell<schema::Evicted>(part, [](auto) {}); });
  auto tell_stored = [&](const block_chain& keys, schema::Tier tier) {
    in_parts(keys, [&](auto part, bool) {
      tell<schema::Stored>(part, [&](auto said) { said.setTier(tier); });
    });
  };
  tell_stored(all.ssd, schema::Tier::SSD);
  tell_stored(all.dram, schema::Tier::DRAM);
}

void announcer::recount(const block_chain& in_memory, const block_chain& on_disk) {
  send_news(); // so that the count holds up to a number
  std::uint32_t parts = 0;
  auto send = [&](std::span<const block_key> part, schema::Tier tier, bool is_last) {
    tell<schema::Snapshot>(part, [&](schema::Snapshot::Builder said) {
      said.setPart(parts++);
      said.setLast(is_last);
      said.setTier(tier);
    });
  };
  in_parts(on_disk, [&](auto part, bool is_last) {
    send(part, schema::Tier::SSD, is_last && in_memory.empty());
  });
  in_parts(in_memory,
           [&](auto part, bool is_last) { send(part, schema::Tier::DRAM, is_last); });
  if (parts == 0)
    send({}, schema::Tier::DRAM, true);
}

} // namespace perigee::shard
