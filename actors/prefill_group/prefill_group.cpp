#include "actors/prefill_group/prefill_group.hpp"

#include "actors/prefill_group/prefill_state.hpp"

#include <spdlog/logger.h>

namespace perigee::prefill {
namespace {

// What the timers are for: see on_due().
enum timer : std::uint64_t {
  of_deadlines,
  of_ended,
  of_pins,
  of_pool,
  of_held_back,
  timers
};

constexpr std::size_t listed_max = 4096; // of one report

// Tokens that may be scored in one Forward, all together: their scores fill a message.
constexpr std::uint32_t scored_max = 4096;

} // namespace

prefill_state::prefill_state(handle::pointer self, const rt::world& in,
                             engine::arena_view arena,
                             std::shared_ptr<transport::gate_board> gates, options how,
                             std::shared_ptr<probe> counts)
  : self_(self), desk_(self, in, name), log_(in.log->clone(name)), how_(how),
    probe_(std::move(counts)), gates_(std::move(gates)),
    block_tokens_(arena.layout.block_tokens), blocks_total_(arena.blocks),
    ledger_(arena.blocks, shard::make_eviction_policy("lru")),
    tickets_(static_cast<std::uint64_t>(desk_.tag())), line_(how.waiting_max),
    queue_(how.chunk_tokens, scored_max), moves_(desk_, in.roster, tickets_),
    pace_(how.report_every), jobs_(how.requests_max, block_tokens_),
    untold_ended_(listed_max),
    deadlines_(
      how.requests_max,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_deadlines); },
      [this](auto request, char) { on_deadline(request); }),
    ended_(
      4 * how.requests_max,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_ended); },
      [](auto, char) {}),
    pins_(
      how.requests_max, [this](auto due, auto epoch) { wake_at(due, epoch, of_pins); },
      [this](auto, auto request) { on_pin_expired(request); }),
    held_back_(
      how.requests_max,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_held_back); },
      [this](auto ticket, auto request) { may_begin(ticket, request); }),
    pool_(desk_, tickets_, moves_, 4 * how.requests_max, how.pool_limit, how.move_limit,
          [this](auto due, auto epoch) { wake_at(due, epoch, of_pool); }) {
  show_holdings();
}

prefill_state::handle::behavior_type prefill_state::make_behavior() {
  return {
    desk_.on(this, &prefill_state::on_prefill),
    desk_.on(this, &prefill_state::on_prompt),
    desk_.on(this, &prefill_state::on_cancel),
    desk_.on(this, &prefill_state::on_roomed),
    desk_.on(this, &prefill_state::on_handed_off),
    desk_.on(this, &prefill_state::on_pinned),
    desk_.on(this, &prefill_state::on_reserved),
    desk_.on(this, &prefill_state::on_moved),
    desk_.on(this, &prefill_state::on_forwarded),
    desk_.on(this, &prefill_state::on_member),
    desk_.on(this, &prefill_state::on_due),
    desk_.on(this, &prefill_state::on_tick),
  };
}

// -- its end ------------------------------------------------------------------

/// Tells the gateway, unless it is `NONE`: then it knows already, or somebody else will
/// tell it. What is under way is stopped, and the rest follows when that has ended.
void prefill_state::end(job& one, End how) {
  touched_.insert(one.request);
  if (one.now == stage::ending)
    return;
  bool is_ours = one.plan && one.now != stage::handed_off;
  if (how != End::NONE && is_ours) {
    probe_->failed();
    tell_end(one, how, [](auto) {});
  }
  one.now = stage::ending;
  deadlines_.take(one.request);
  line_.leave(one.request);
  queue_.remove(one.request);
  if (one.plan)
    report_end(one);
  pins_.take(std::exchange(one.pin_ticket, 0));
  if (one.fetch_ticket != 0) {
    moves_.abort(*one.plan, one.fetch_ticket);
    forget_loading(one.fetch_ticket);
  }
  for (auto ticket : one.to_decode.moves)
    moves_.abort(*one.plan, ticket);
}

/// What a job needs after whatever has just happened to it.
void prefill_state::look_after(job& one) {
  if (one.now == stage::handed_off && one.to_decode.is_done()) {
    land(one, true);
    end(one, End::NONE);
  }
  if (one.to_decode.failed && one.now == stage::handed_off)
    end(one, End::NONE); // the decode instance tells the gateway
  if (one.to_decode.failed && one.now < stage::handing_off)
    end(one, End::TRANSFER_FAILED);
  if (one.now == stage::ending && !one.landed && one.plan
      && one.to_decode.moves.empty())
    land(one, false);
  if (one.now == stage::ending && !one.is_in_use())
    close(one);
}

/// Nobody reads or writes its blocks any more.
void prefill_state::close(job& one) {
  for (auto block : one.blocks) {
    auto freed = ledger_.free(block, shard::owner_id{one.owner});
    PERIGEE_ASSERT(freed, "a block that was its own");
  }
  if (one.has_sequence)
    sequences_ended_.push_back(one.owner);
  if (one.has_cancel)
    tell_cancelled(one.gateway(), one.request, *one.plan);
  remember(one.request);
  jobs_.close(one.request);
}

void prefill_state::remember(std::uint64_t request) {
  if (!ended_.find(request)
      && !ended_.put(request, desk_.now() + how_.memory_limit, {}))
    log_->debug("memory_full");
}

/// What follows from what has just happened. At the end of every handler.
void prefill_state::settle() {
  do {
    while (!touched_.empty()) {
      auto request = *touched_.begin();
      touched_.erase(touched_.begin());
      if (auto* one = jobs_.find(request))
        look_after(*one);
    }
    admit();
  } while (!pump() || !touched_.empty());
  changed();
}

void prefill_state::on_deadline(std::uint64_t request) {
  if (auto* one = jobs_.find(request))
    end(*one, End::DEADLINE);
}

void prefill_state::on_cancel(const Msg<schema::Cancel>& wish) {
  auto gateway = to_name<gateway_name>(wish->getGateway());
  auto request = wish->getRequest();
  if (!is_current(wish, gateway))
    return;
  auto* one = jobs_.find(request);
  if (one && one->plan && one->gateway() == gateway) {
    probe_->cancelled();
    one->has_cancel = true;
  } else {
    remember(request);
    tell_cancelled(gateway, request, wish);
  }
  if (one && (one->has_cancel || !one->plan))
    end(*one, End::NONE);
  settle();
}

void prefill_state::tell_cancelled(const gateway_name& whom, std::uint64_t request,
                                   const rt::cause& why) {
  desk_.tell<schema::Cancelled>(whom, why, [&](schema::Cancelled::Builder news) {
    news.setRequest(request);
    news.setBy(schema::Role::PREFILL);
  });
}

// -- reports, and time --------------------------------------------------------

void prefill_state::report_end(job& one) {
  if (!std::exchange(one.was_reported, true))
    untold_ended_.add(one.request);
}

void prefill_state::changed() {
  show_holdings();
  if (pace_.changed(desk_.now()))
    return report();
  if (auto due = pace_.take_tick())
    desk_.tell_after<schema::Tick>(handle{self_}, *due - desk_.now(), rt::unprompted,
                                   [](auto) {});
}

void prefill_state::on_tick(const Msg<schema::Tick>&) {
  pace_.ticked(desk_.now());
  report();
}

void prefill_state::report() {
  do {
    bool there = desk_.tell<schema::PrefillLoad>(
      conductor_name{how_.control, 0}, rt::unprompted,
      [&](schema::PrefillLoad::Builder news) { write_load(news); });
    untold_ended_.told();
    if (!there) // who comes in its place knows none of them
      untold_ended_.forget();
  } while (!untold_ended_.empty());
}

void prefill_state::write_load(schema::PrefillLoad::Builder news) const {
  set_name(news.initWho(), desk_.me());
  auto all = jobs_.sum();
  news.setWaiting(all.waiting);
  news.setRunning(all.running);
  news.setQueuedTokens(all.tokens_ahead);
  news.setBlocksFree(static_cast<std::uint32_t>(ledger_.counts().free));
  auto ended = untold_ended_.part();
  news.setEnded({ended.data(), ended.size()});
}

void prefill_state::show_holdings() {
  auto counts = ledger_.counts();
  probe_->holds({jobs_.size(), line_.size(), moves_.size(), pins_.size() + pool_.size(),
                 deadlines_.size(), blocks_total_ - counts.free, counts.free});
}

void prefill_state::wake_at(moment due, std::uint64_t epoch, std::uint64_t table) {
  desk_.tell_after<schema::Due>(
    handle{self_}, due - desk_.now(), rt::unprompted,
    [&](auto news) { news.setEpoch(epoch * timers + table); });
}

void prefill_state::on_due(const Msg<schema::Due>& news) {
  auto epoch = news->getEpoch() / timers;
  switch (news->getEpoch() % timers) {
    case of_deadlines: deadlines_.on_timer(epoch, desk_.now()); break;
    case of_ended: ended_.on_timer(epoch, desk_.now()); break;
    case of_pins: pins_.on_timer(epoch, desk_.now()); break;
    case of_pool: pool_.on_timer(epoch); break;
    case of_held_back: held_back_.on_timer(epoch, desk_.now()); break;
  }
  if (!touched_.empty())
    settle();
}

std::uint64_t prefill_state::remaining(const job& one) const {
  return static_cast<std::uint64_t>(
    std::max(one.deadline - desk_.now(), moment{1}).count());
}

// -- starting -----------------------------------------------------------------

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  return text("control", static_cast<unsigned>(how.control))
         + text(" engine", how.engine) + text(" segment", how.segment)
         + text(" chunk_tokens", how.chunk_tokens) + text(" layer_wise", how.layer_wise)
         + text(" requests_max", how.requests_max)
         + text(" waiting_max", how.waiting_max)
         + text(" join_limit_ms", how.join_limit.count())
         + text(" pool_limit_ms", how.pool_limit.count())
         + text(" move_limit_ms", how.move_limit.count())
         + text(" handoff_grace_ms", how.handoff_grace.count())
         + text(" memory_limit_ms", how.memory_limit.count())
         + text(" report_every_ms", how.report_every.count());
}

prefill_actor start(const rt::world& in, rt::place where, engine::arena_view arena,
                    std::shared_ptr<transport::gate_board> gates, options how,
                    std::shared_ptr<probe> counts) {
  return rt::spawn<prefill_state>(in, where, rt::arguments{to_string(how)}, arena,
                                  std::move(gates), how, std::move(counts));
}

} // namespace perigee::prefill
