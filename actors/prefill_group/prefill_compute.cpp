#include "actors/prefill_group/prefill_state.hpp"
#include "actors/prefill_group/prefill_words.hpp"
#include "actors/span_of.hpp"

#include <spdlog/logger.h>

namespace perigee::prefill {
namespace {

origin origin_of(schema::Tier in, bool is_ours) {
  if (!is_ours)
    return origin::remote;
  switch (in) {
    case schema::Tier::SSD: return origin::ssd;
    case schema::Tier::VRAM: return origin::vram;
    case schema::Tier::DRAM: break;
  }
  return origin::dram;
}

} // namespace

// -- fetching -----------------------------------------------------------------

void prefill_state::fetch_or_compute(job& one) {
  auto plan = **one.plan;
  auto ticket = ++tickets_;
  if (plan.getReuseBlocks() == 0 || one.is_scored()
      || !pins_.put(ticket, desk_.now() + how_.pool_limit, one.request))
    return compute(one);
  bool there
    = desk_.tell<schema::Pin>(one.source(), *one.plan, [&](schema::Pin::Builder wish) {
        set_asker(wish.initAsker(), desk_.me());
        wish.setTicket(ticket);
        auto chain = to_chain(plan.getChain());
        chain.resize(plan.getReuseBlocks());
        auto wanted = wish.initChain();
        set_chain(wanted, chain);
        wanted.setBlockTokens(plan.getChain().getBlockTokens());
        wanted.setRoot(plan.getChain().getRoot());
        wish.setRemainingNs(std::min(
          remaining(one), static_cast<std::uint64_t>(moment{how_.pool_limit}.count())));
      });
  if (!there) {
    pins_.take(ticket);
    return compute(one);
  }
  one.now = stage::fetching;
  one.times.fetch_began = desk_.now();
  one.pin_ticket = ticket;
}

void prefill_state::on_pinned(const Msg<schema::Pinned>& said) {
  const auto* request = pins_.find(said->getTicket());
  if (!request) // too late: the lease will expire
    return probe_->dropped_stale();
  auto& one = jobs_.at(*request);
  if (!is_current(said, one.source()))
    return;
  pins_.take(said->getTicket());
  one.pin_ticket = 0;
  if (!said->isLease() || !fetch(one, said->getLease()))
    on_fetched(one, schema::MoveFault::GONE);
  settle();
}

void prefill_state::on_pin_expired(std::uint64_t request) {
  auto& one = jobs_.at(request);
  one.pin_ticket = 0;
  on_fetched(one, schema::MoveFault::TIMED_OUT);
}

/// False if there is nobody who would.
bool prefill_state::fetch(job& one, schema::Lease::Reader lent) {
  auto blocks = std::min(lent.getBlocks().size(), (*one.plan)->getReuseBlocks());
  auto began = one.times.fetch_began;
  one.lent = {lent.getId(), one.source(), began, began + span_of(lent.getExpiresInNs()),
              lent.getTier()};
  move_order what;
  what.from = lent.getSegment();
  what.to = how_.segment;
  for (unsigned i = 0; i < blocks; ++i) {
    what.sources.push_back(lent.getBlocks()[i]);
    what.targets.push_back(one.blocks[i]);
  }
  what.priority = schema::Priority::FIRST_TOKEN;
  what.limit = std::min<moment>(how_.move_limit, one.lent.ends_at - desk_.now());
  if (what.limit <= moment{0})
    return false;
  auto told = [this, request = one.request, blocks](auto, auto fault) {
    auto& of = jobs_.at(request);
    of.fetch_ticket = 0;
    of.cached = fault == schema::MoveFault::NONE ? blocks * block_tokens_ : 0;
    on_fetched(of, fault);
  };
  one.fetch_ticket = moves_.fetch(*one.plan, what, told);
  return one.fetch_ticket != 0;
}

/// What came in time is good; else all is computed.
void prefill_state::on_fetched(job& one, schema::MoveFault fault) {
  bool in_time = fault == schema::MoveFault::NONE && desk_.now() <= one.lent.ends_at;
  unpin(one);
  if (!in_time)
    one.cached = 0;
  touched_.insert(one.request);
  if (one.now != stage::fetching)
    return;
  one.times.fetch_ended = desk_.now();
  one.computed = one.cached;
  bool is_ours = one.source().node == desk_.me().node;
  one.stored = is_ours ? one.cached / block_tokens_ : 0;
  probe_->reused(one.cached, origin_of(one.lent.in, is_ours));
  compute(one);
}

void prefill_state::unpin(job& one) {
  if (one.lent.id != 0)
    desk_.tell<schema::Unpin>(one.lent.by, *one.plan,
                              [&](auto news) { news.setLease(one.lent.id); });
  one.lent.id = 0;
}

// -- computing ----------------------------------------------------------------

void prefill_state::compute(job& one) {
  one.now = stage::computing;
  queue_.add(one.request, one.prompt_tokens() - one.computed, one.is_scored());
}

/// False if some have ended by that.
bool prefill_state::pump() {
  if (forward_ticket_ != 0)
    return true;
  auto some = queue_.next_chunk();
  if (some.empty() && sequences_ended_.empty())
    return true;
  auto gate = open_gate(some);
  for (const auto& part : some)
    begin_share(jobs_.at(part.request), part.tokens, gate);
  bool there = desk_.tell<schema::Forward>(
    engine(), cause_of(some),
    [&](schema::Forward::Builder wish) { write_forward(wish, some); });
  sequences_ended_.clear();
  if (!there) { // and soon we aren't either: an engine and its owner are one
    fail_chunk(some);
    return some.empty();
  }
  forward_ticket_ = tickets_;
  in_forward_ = some;
  for (const auto& part : some)
    send_ready(jobs_.at(part.request));
  return true;
}

engine_name prefill_state::engine() const {
  return {desk_.me().node, how_.engine};
}

/// A chunk of several requests is caused by none of them.
rt::cause prefill_state::cause_of(const chunk& some) const {
  return some.size() == 1 ? rt::cause{*jobs_.at(some.front().request).plan}
                          : rt::unprompted;
}

/// Null if there is no place for one: then blocks are sent when they are whole.
gate_ptr prefill_state::open_gate(const chunk& some) {
  if (some.empty())
    return nullptr;
  auto gate = std::make_shared<transport::owned_gate>(
    gates_->open(transport::gate_id{++tickets_}));
  return *gate ? gate : nullptr;
}

void prefill_state::begin_share(job& one, std::uint32_t tokens, const gate_ptr& gate) {
  if (one.times.compute_began == moment{})
    one.times.compute_began = desk_.now();
  one.in_forward = true;
  one.flying = tokens;
  one.gate = gate;
  if (!one.asked_room && !one.has_one_token_answer())
    ask_room(one);
}

void prefill_state::write_forward(schema::Forward::Builder wish, const chunk& some) {
  set_asker(wish.initOwner(), desk_.me());
  wish.setTicket(++tickets_);
  wish.setEnds({sequences_ended_.data(), sequences_ended_.size()});
  std::vector<job*> begun;
  auto work = wish.initWork(static_cast<unsigned>(some.size()));
  for (unsigned i = 0; i < work.size(); ++i) {
    auto& one = jobs_.at(some[i].request);
    write_work(work[i], one);
    if (!std::exchange(one.has_sequence, true))
      begun.push_back(&one);
  }
  auto begins = wish.initBegins(static_cast<unsigned>(begun.size()));
  for (unsigned i = 0; i < begins.size(); ++i)
    write_begin(begins[i], *begun[i]);
}

void prefill_state::on_forwarded(const Msg<schema::Forwarded>& said) {
  auto result = said->getResult();
  if (!is_current(said, engine()))
    return;
  if (result.getTicket() != forward_ticket_)
    return probe_->dropped_stale();
  forward_ticket_ = 0;
  auto some = std::exchange(in_forward_, {});
  if (result.getFault() != schema::EngineFault::NONE) {
    log_->warn("forward_failed fault={}", static_cast<int>(result.getFault()));
    fail_chunk(some);
  } else {
    for (const auto& part : some)
      take_share(jobs_.at(part.request), result);
  }
  settle();
}

void prefill_state::take_share(job& one, schema::RunResult::Reader result) {
  touched_.insert(one.request);
  probe_->computed(one.flying);
  one.in_forward = false;
  one.computed += std::exchange(one.flying, 0);
  if (one.now == stage::ending)
    return;
  send_ready(one);
  for (auto scores : result.getScores())
    if (scores.getSequence() == one.owner)
      tell_scores(one, scores);
  if (one.computed < one.prompt_tokens())
    return;
  one.times.compute_ended = desk_.now();
  for (auto drawn : result.getSteps()[0].getDrawn())
    if (drawn.getSequence() == one.owner)
      return hand_over(one, drawn);
}

void prefill_state::fail_chunk(const chunk& some) {
  for (const auto& part : some) {
    auto& one = jobs_.at(part.request);
    touched_.insert(one.request);
    one.in_forward = false;
    one.flying = 0;
    one.gate.reset();
    end(one, End::ENGINE_FAILED);
  }
}

void prefill_state::tell_scores(const job& one,
                                schema::RunResult::Scores::Reader scores) {
  desk_.tell<schema::PromptScores>(one.gateway(), *one.plan,
                                   [&](schema::PromptScores::Builder news) {
                                     news.setRequest(one.request);
                                     news.setFirstToken(scores.getFirstPosition());
                                     news.setScores(scores.getScores());
                                   });
}

} // namespace perigee::prefill
