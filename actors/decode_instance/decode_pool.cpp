#include "actors/decode_instance/decode_state.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::decode {
namespace {

// What failed in the pool is tried again so much later, and so often.
constexpr moment retry_after = std::chrono::milliseconds{100};
constexpr std::uint32_t returns_max = 3;

} // namespace

// -- leaving ------------------------------------------------------------------

/// False if something changed by that, and another plan is due.
bool decode_state::park_some(const batch& plan) {
  if (!plan.run.empty())
    stuck_since_.reset();
  if (is_stuck(plan)) {
    auto since = *(stuck_since_ ? stuck_since_ : stuck_since_ = desk_.now());
    bool is_alone = plan.park.empty();
    if (is_alone || desk_.now() - since >= how_.park_limit)
      return unstick(), false;
  }
  if (desk_.now() >= park_at_)
    for (auto request : plan.park)
      park(guests_.at(request));
  if (!plan.park.empty() && desk_.now() < park_at_)
    try_again_at(park_at_);
  return true;
}

/// Nobody can run, and nobody is about to leave, to land or to come back.
bool decode_state::is_stuck(const batch& plan) const {
  if (!plan.run.empty() || forward_ticket_ != 0 || guests_.count_at(stage::ready) == 0)
    return false;
  return std::none_of(guests_.begin(), guests_.end(), [](const auto& entry) {
    const auto& one = entry.second;
    return one.now != stage::ready && one.is_in_use();
  });
}

/// There are no blocks, neither here nor in the pool: the youngest gives its own back.
void decode_state::unstick() {
  auto& youngest = guests_.at(guests_.by_age(stage::ready).back()->request);
  log_->debug("arena_full request={} blocks={}", youngest.request,
              youngest.blocks.size());
  end(youngest, End::BUSY);
  stuck_since_.reset();
}

void decode_state::park(guest& one) {
  one.now = stage::parking;
  free_blocks_from(one, blocks_for(one.answer->kv_tokens()));
  pool_writer<handle>::piece what;
  what.why = one.why;
  what.segment = how_.segment;
  what.sources = one.blocks;
  one.is_storing
    = pool_.store(std::move(what), [this, request = one.request](auto there) {
        auto& of = guests_.at(request);
        of.is_storing = false;
        on_parked(of, std::move(there));
      });
  if (!one.is_storing)
    on_parked(one, std::nullopt);
}

void decode_state::on_parked(guest& one, std::optional<kept_blocks> there) {
  touched_.insert(one.request);
  one.kept = std::move(there);
  if (one.now == stage::ending)
    return;
  if (!one.kept) {
    one.now = stage::ready; // as if nothing had been
    one.blocks_told = std::min<std::uint32_t>(
      one.blocks_told, static_cast<std::uint32_t>(one.blocks.size()));
    park_at_ = desk_.now() + retry_after;
    return;
  }
  probe_->parked();
  free_blocks_from(one, 0);
  one.blocks_told = 0;
  one.now = stage::parked;
}

// -- coming back --------------------------------------------------------------

/// The oldest first: nobody overtakes them, nor do requests that are new here.
void decode_state::bring_back() {
  for (const auto* one : guests_.by_age(stage::parked)) {
    auto others = guests_.count_at(stage::ready) + guests_.count_at(stage::returning);
    // Each of those may need a block soon, and then it would have to leave again.
    if (ledger_.counts().free < one->answer->blocks_after(1) + others)
      return;
    if (desk_.now() < one->return_at)
      return try_again_at(one->return_at);
    bring_back(guests_.at(one->request));
  }
}

void decode_state::bring_back(guest& one) {
  one.now = stage::returning;
  take_blocks(one, one.kept->blocks.size());
  move_order what;
  what.from = one.kept->segment;
  what.to = how_.segment;
  what.sources = one.kept->blocks;
  what.targets = one.blocks;
  what.priority = schema::Priority::NEXT_TOKEN;
  what.limit = how_.move_limit;
  auto told = [this, request = one.request](auto, auto fault) {
    auto& of = guests_.at(request);
    of.fetch_ticket = 0;
    on_returned(of, fault);
  };
  one.fetch_ticket = moves_.fetch(one.why, what, told);
  if (one.fetch_ticket == 0)
    on_returned(one, schema::MoveFault::BROKEN);
}

void decode_state::on_returned(guest& one, schema::MoveFault fault) {
  touched_.insert(one.request);
  if (one.now == stage::ending)
    return;
  if (fault == schema::MoveFault::NONE) {
    probe_->returned();
    pool_.release(one.why, one.kept->grant);
    one.kept.reset();
    one.returns_failed = 0;
    one.now = stage::ready;
    return interrupt(); // the next batch is another
  }
  free_blocks_from(one, 0);
  one.now = stage::parked;
  one.return_at = desk_.now() + retry_after;
  if (++one.returns_failed >= returns_max)
    end(one, End::TRANSFER_FAILED);
}

void decode_state::try_again_at(moment when) {
  auto key = static_cast<std::uint64_t>(when.count());
  if (!retries_.find(key) && !retries_.put(key, when, {}))
    log_->debug("retries_full"); // there are others, which come soon
}

// -- what the pool gets in the end --------------------------------------------

/// Offers the full blocks that the answer filled, and gives back all others. False if
/// nothing comes of it.
bool decode_state::offer(guest& one) {
  auto own = one.answer->full_blocks();
  auto first = one.blocks.begin() + own.first;
  pool_writer<handle>::piece what;
  what.why = one.why;
  what.segment = how_.segment;
  what.parent = own.parent;
  what.depth = own.first;
  what.sources.assign(first, first + static_cast<std::ptrdiff_t>(own.keys.size()));
  what.keys = std::move(own.keys);
  if (what.keys.empty())
    return false;
  probe_->offered(what.keys.size());
  free_blocks_from(one, own.first + what.keys.size());
  std::for_each(one.blocks.begin(), first,
                [&](std::uint32_t block) { free_block(one, block); });
  one.blocks = what.sources;
  one.is_storing = pool_.store(std::move(what), [this, request = one.request](auto) {
    guests_.at(request).is_storing = false;
    touched_.insert(request);
  });
  return one.is_storing;
}

// -- blocks -------------------------------------------------------------------

std::size_t decode_state::blocks_for(std::size_t tokens) const {
  return (tokens + block_tokens_ - 1) / block_tokens_;
}

/// There are as many.
void decode_state::take_blocks(guest& one, std::size_t blocks) {
  auto given = ledger_.reserve(shard::owner_id{one.owner}, blocks);
  PERIGEE_ASSERT(given.items.size() == blocks, "blocks that were counted as free");
  for (const auto& item : given.items)
    one.blocks.push_back(item.block);
}

void decode_state::free_block(const guest& one, std::uint32_t block) {
  auto freed = ledger_.free(block, shard::owner_id{one.owner});
  PERIGEE_ASSERT(freed, "a block that was its own");
}

void decode_state::free_blocks_from(guest& one, std::size_t first) {
  for (auto i = first; i < one.blocks.size(); ++i)
    free_block(one, one.blocks[i]);
  one.blocks.resize(std::min(first, one.blocks.size()));
}

} // namespace perigee::decode
