#include "actors/prefill_group/prefill_state.hpp"
#include "actors/span_of.hpp"

#include <spdlog/logger.h>

namespace perigee::prefill {

// -- a request comes ----------------------------------------------------------

void prefill_state::on_prefill(const Msg<schema::Prefill>& plan) {
  auto request = plan->getRequest();
  if (!is_current(plan, conductor_name{how_.control, 0}))
    return;
  if (ended_.find(request))
    return probe_->dropped_stale(); // cancelled before it was here
  auto* one = jobs_.open(request);
  if (!one)
    return refuse(plan);
  if (one->plan)
    return probe_->dropped_stale();
  one->plan = plan;
  one->times.arrived = desk_.now();
  keep_until(*one, span_of(plan->getRemainingNs()));
  if (is_sound(*plan)) {
    try_to_join(*one);
  } else {
    log_->warn("bad_plan request={}", request);
    end(*one, End::ENGINE_FAILED);
  }
  settle();
}

/// Whether the chain is that of the prompt, and something is left to be computed.
bool prefill_state::is_sound(schema::Prefill::Reader plan) const {
  auto keys = plan.getChain().getKeys().size();
  auto tokens = plan.getPromptTokens();
  return tokens > 0 && plan.getTokensMax() > 0 && keys == tokens / block_tokens_
         && (keys == 0 || plan.getChain().getBlockTokens() == block_tokens_)
         && plan.getReuseBlocks() <= keys
         && std::uint64_t{plan.getReuseBlocks()} * block_tokens_ < tokens;
}

void prefill_state::on_prompt(const Msg<schema::Prompt>& part) {
  auto request = part->getRequest();
  auto* one = ended_.find(request) ? nullptr : jobs_.open(request);
  if (!one || one->now != stage::joining || !one->prompt.is_of(part)
      || (one->plan && !desk_.is_from(one->gateway(), part)))
    return probe_->dropped_stale();
  if (!one->plan && !one->prompt.has_begun())
    keep_until(*one, how_.join_limit);
  if (one->prompt.add(part)) {
    try_to_join(*one);
  } else {
    log_->warn("bad_prompt request={}", request);
    end(*one, End::ENGINE_FAILED);
  }
  settle();
}

/// There are as many requests as may be.
void prefill_state::refuse(const Msg<schema::Prefill>& plan) {
  job one;
  one.request = plan->getRequest();
  one.plan = plan;
  one.times.arrived = desk_.now();
  probe_->failed();
  tell_end(one, End::BUSY, [](auto) {});
  land(one, false);
  remember(one.request);
  report_end(one);
  changed();
}

void prefill_state::keep_until(job& one, moment span) {
  one.deadline = desk_.now() + span;
  expire_at(one, one.deadline);
}

void prefill_state::expire_at(const job& one, moment when) {
  deadlines_.take(one.request);
  bool kept = deadlines_.put(one.request, when, {});
  PERIGEE_ASSERT(kept, "as many deadlines as requests");
}

void prefill_state::try_to_join(job& one) {
  if (!one.plan || !one.prompt.is_whole())
    return;
  if (!is_current(one.prompt.last(), one.gateway()))
    return end(one, End::NONE); // the gateway that wanted it is gone
  if (one.prompt.tokens().size() != one.prompt_tokens()) {
    log_->warn("bad_prompt request={}", one.request);
    return end(one, End::ENGINE_FAILED);
  }
  one.now = stage::waiting;
  if (blocks_for(one) > blocks_total_ || !line_.join(one.request, blocks_for(one)))
    end(one, End::BUSY);
}

std::size_t prefill_state::blocks_for(const job& one) const {
  return (one.prompt_tokens() + block_tokens_ - 1) / block_tokens_;
}

/// Gives blocks to whose turn it is.
void prefill_state::admit() {
  while (auto next = line_.next(ledger_.counts().free)) {
    auto& one = jobs_.at(*next);
    one.owner = ++owners_;
    auto given = ledger_.reserve(shard::owner_id{one.owner}, blocks_for(one));
    for (const auto& item : given.items)
      one.blocks.push_back(item.block);
    PERIGEE_ASSERT(one.blocks.size() == blocks_for(one),
                   "as many blocks as the line was told are free");
    fetch_or_compute(one);
  }
}

} // namespace perigee::prefill
