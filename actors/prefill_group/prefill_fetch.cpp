#include "actors/prefill_group/prefill_state.hpp"
#include "actors/span_of.hpp"

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
  one.arrival = how_.layer_wise ? open_gate() : nullptr;
  what.open_gate = one.arrival ? static_cast<std::uint64_t>(one.arrival->id()) : 0;
  what.priority = schema::Priority::FIRST_TOKEN;
  what.limit = std::min<moment>(how_.move_limit, one.lent.ends_at - desk_.now());
  if (what.limit <= moment{0})
    return false;
  auto told = [this, request = one.request](auto ticket, auto fault) {
    auto& of = jobs_.at(request);
    of.fetch_ticket = 0;
    forget_loading(ticket);
    on_fetched(of, fault);
  };
  one.load_began = desk_.now();
  one.coming = blocks * block_tokens_;
  one.fetch_ticket = moves_.fetch(*one.plan, what, told);
  if (one.fetch_ticket != 0 && one.arrival)
    hold_back(one);
  return one.fetch_ticket != 0;
}

/// Null if there is no place for one.
gate_ptr prefill_state::open_gate() {
  auto gate = std::make_shared<transport::owned_gate>(
    gates_->open(transport::gate_id{++tickets_}));
  return *gate ? gate : nullptr;
}

/// What came in time is good; else all is computed.
void prefill_state::on_fetched(job& one, schema::MoveFault fault) {
  bool in_time = fault == schema::MoveFault::NONE && desk_.now() <= one.lent.ends_at;
  unpin(one);
  touched_.insert(one.request);
  if (one.arrival && !in_time)
    (*one.arrival)->fail(); // also where its mover had no time to
  if (one.now == stage::fetching || one.now == stage::computing) {
    one.times.fetch_ended = desk_.now();
    if (in_time)
      keep_fetched(one);
    if (one.now == stage::fetching)
      compute_rest(one);
    else if (!in_time)
      one.is_spoilt = true;
    else if (!held_)
      send_ready(one);
  }
  if (held_ && one.in_forward)
    take_chunk(std::exchange(held_, std::nullopt).value()->getResult());
}

void prefill_state::keep_fetched(job& one) {
  bool is_ours = one.source().node == desk_.me().node;
  one.cached = one.coming;
  one.stored = is_ours ? one.cached / block_tokens_ : 0;
  probe_->reused(one.cached, origin_of(one.lent.in, is_ours));
  load_pace_.loaded(one.source().node, one.lent.in, one.coming,
                    desk_.now() - one.load_began);
}

void prefill_state::compute_rest(job& one) {
  one.arrival.reset();
  one.computed = one.cached;
  compute(one);
}

void prefill_state::unpin(job& one) {
  if (one.lent.id != 0)
    desk_.tell<schema::Unpin>(one.lent.by, *one.plan,
                              [&](auto news) { news.setLease(one.lent.id); });
  one.lent.id = 0;
}

// -- computing while it comes -------------------------------------------------

/// From beginning too soon: what waits for a slow load holds the engine.
void prefill_state::hold_back(const job& one) {
  auto first = std::min(one.prompt_tokens() - one.coming, how_.chunk_tokens);
  auto span = load_pace_.head_start(one.source().node, one.lent.in, one.coming, first);
  if (span == moment{0}
      || !held_back_.put(one.fetch_ticket, desk_.now() + span, one.request))
    may_begin(one.fetch_ticket, one.request);
}

void prefill_state::may_begin(std::uint64_t ticket, std::uint64_t request) {
  loading_.emplace(ticket, request);
  touched_.insert(request);
}

void prefill_state::forget_loading(std::uint64_t ticket) {
  loading_.erase(ticket);
  held_back_.take(ticket);
}

/// The first chunk of who has waited longest for KV that is still coming: alone, and
/// each layer waits for its own. Empty if nobody does.
prefill_state::chunk prefill_state::first_of_loading() {
  if (loading_.empty())
    return {};
  auto& one = jobs_.at(loading_.begin()->second);
  loading_.erase(loading_.begin());
  one.computed = one.coming;
  compute(one);
  probe_->overlapped();
  return queue_.next_chunk();
}

/// Whether a Forward that waited for KV has come to nothing, or is worth nothing, for
/// want of it.
bool prefill_state::has_starved(const job& one, schema::EngineFault fault) const {
  bool waited = one.arrival != nullptr;
  return waited
         && (fault == schema::EngineFault::STARVED
             || (one.is_spoilt && fault == schema::EngineFault::NONE));
}

/// All that has not come is computed, by a sequence that knows nothing of the first try.
void prefill_state::start_over(job& one) {
  touched_.insert(one.request);
  one.in_forward = false;
  one.is_spoilt = false;
  one.flying = 0;
  one.gate.reset();
  queue_.remove(one.request);
  if (one.now == stage::ending)
    return;
  probe_->started_over();
  sequences_ended_.push_back(one.owner);
  one.has_sequence = false;
  compute_rest(one);
}

} // namespace perigee::prefill
