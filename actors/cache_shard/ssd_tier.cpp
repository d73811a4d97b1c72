#include "actors/cache_shard/ssd_tier.hpp"

#include "schemas/assert.hpp"

namespace perigee::shard {

using transport::disk_job;

ssd_tier::ssd_tier(surroundings in, std::shared_ptr<transport::disk> disk,
                   std::unique_ptr<eviction_policy> policy, std::size_t spare)
  : in_(std::move(in)), disk_(std::move(disk)),
    ledger_(disk_->slots(), std::move(policy)), spare_(spare) {}

place ssd_tier::where(const block_key& key) const {
  return in_.dram.contains(key)  ? place::dram
         : ledger_.contains(key) ? place::ssd
                                 : place::gone;
}

// -- falling ------------------------------------------------------------------

void ssd_tier::make_spare(moment now) {
  job all{in_.next_owner(), {disk_job::way::write}};
  while (in_.dram.counts().free + falling_ < spare_ && fall_one(all)) {
  }
  if (!all.what.pairs.empty())
    begin(std::move(all), now);
}

/// False if no block may leave memory now.
bool ssd_tier::fall_one(job& into) {
  auto out = in_.dram.evict_to(into.owner);
  if (!out)
    return false;
  auto free = [&] {
    auto freed = in_.dram.free(out->block, into.owner);
    PERIGEE_ASSERT(freed, "a block that was left to us");
  };
  if (ledger_.contains(out->key)) {
    free();
    in_.moved(out->key, place::dram, place::ssd);
    return true;
  }
  in_.moved(out->key, place::dram, place::gone);
  auto got
    = ledger_.reserve(into.owner, chain_piece{out->parent, out->depth, {&out->key, 1}});
  evict_from_disk(got.evicted);
  if (got.items.empty()) {
    free();
    in_.counts.evicted(1);
    return true;
  }
  into.what.pairs.push_back({out->block, got.items.front().block});
  into.keys.push_back(out->key);
  ++falling_;
  return true;
}

void ssd_tier::evict_from_disk(const std::vector<block_key>& keys) {
  for (const auto& key : keys)
    if (!in_.dram.contains(key))
      in_.moved(key, place::ssd, place::gone);
  in_.counts.fell_off_ssd(keys.size());
}

void ssd_tier::end_write(const job& one, bool ok) {
  for (std::size_t i = 0; i < one.keys.size(); ++i) {
    auto [block, slot] = one.what.pairs[i];
    auto freed = in_.dram.free(block, one.owner);
    PERIGEE_ASSERT(freed, "a block that was left to us");
    --falling_;
    if (!ok) {
      auto dropped = ledger_.free(slot, one.owner);
      PERIGEE_ASSERT(dropped, "a slot that was ours");
    } else if (auto came = ledger_.seal(slot, one.owner);
               came == sealing::stored && !in_.dram.contains(one.keys[i])) {
      in_.moved(one.keys[i], place::gone, place::ssd);
    }
  }
  if (ok)
    in_.counts.written_to_ssd(one.keys.size());
}

// -- climbing -----------------------------------------------------------------

bool ssd_tier::climb(const block_key& root, std::span<const block_key> chain,
                     std::size_t first, moment now, std::function<void()> told) {
  auto lent = ledger_.lend(chain.subspan(first));
  if (!lent)
    return false;
  job all{in_.next_owner(), {disk_job::way::read}, {}, lent->id, std::move(told)};
  const auto& parent = first > 0 ? chain[first - 1] : root;
  auto got = in_.dram.reserve(all.owner, {parent, static_cast<std::uint32_t>(first),
                                          chain.subspan(first, lent->blocks.size())});
  for (const auto& key : got.evicted)
    in_.moved(key, place::dram, where(key));
  in_.counts.evicted(got.evicted.size());
  for (auto item : got.items)
    all.what.pairs.push_back({item.block, lent->blocks[item.index]});
  if (!got.items.empty())
    return begin(std::move(all), now);
  ledger_.release(lent->id);
  return false;
}

void ssd_tier::end_read(const job& one, bool ok) {
  for (auto [block, slot] : one.what.pairs)
    if (!ok) {
      auto freed = in_.dram.free(block, one.owner);
      PERIGEE_ASSERT(freed, "a block that was reserved for us");
    } else if (in_.dram.seal(block, one.owner) == sealing::stored) {
      in_.moved(*in_.dram.key_of(block), place::ssd, place::dram);
    }
  ledger_.release(*one.lease);
  if (ok)
    in_.counts.read_from_ssd(one.what.pairs.size());
}

// -- the disk -----------------------------------------------------------------

/// False, and it has ended, if the disk does not take it.
bool ssd_tier::begin(job one, moment now) {
  auto id = ++jobs_total_;
  auto what = one.what;
  jobs_.emplace(id, std::move(one));
  auto taken = disk_->submit(transport::disk_job_id{id}, std::move(what), now,
                             [this](auto which, const auto& came) {
                               end(static_cast<std::uint64_t>(which), came.has_value());
                             });
  if (!taken) {
    jobs_.at(id).told = nullptr;
    end(id, false);
    return false;
  }
  watch();
  return true;
}

void ssd_tier::end(std::uint64_t id, bool ok) {
  auto one = std::move(jobs_.extract(id).mapped());
  if (!ok)
    in_.counts.ssd_failed();
  if (one.lease)
    end_read(one, ok);
  else
    end_write(one, ok);
  if (one.told)
    one.told();
}

void ssd_tier::run_to(moment now) {
  timer_.reset();
  disk_->run_to(now);
  watch();
}

void ssd_tier::watch() {
  auto next = disk_->next_end();
  if (!next || (timer_ && *timer_ <= *next))
    return;
  timer_ = next;
  in_.wake_at(*next);
}

} // namespace perigee::shard
