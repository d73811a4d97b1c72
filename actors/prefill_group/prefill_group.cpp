#include "actors/prefill_group/prefill_group.hpp"

#include "actors/prefill_group/prefill_state.hpp"

#include <spdlog/logger.h>

namespace perigee::prefill {
namespace {

// What the timers are for: see on_due().
enum timer : std::uint64_t { of_deadlines, of_ended, of_pins, of_pool, timers };

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
    queue_(how.chunk_tokens), moves_(desk_, tickets_), pace_(how.report_every),
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

// -- a request comes ----------------------------------------------------------

void prefill_state::on_prefill(const Msg<schema::Prefill>& plan) {
  auto request = plan->getRequest();
  if (!is_current(plan, conductor_name{how_.control, 0}))
    return;
  if (ended_.find(request))
    return probe_->dropped_stale(); // cancelled before it was here
  auto* one = open_job(request);
  if (!one)
    return refuse(plan);
  if (one->plan)
    return probe_->dropped_stale();
  one->plan = plan;
  one->times.arrived = desk_.now();
  keep_until(*one, moment{plan->getRemainingNs()});
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
  auto* one = ended_.find(request) ? nullptr : open_job(request);
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

/// Null if there are as many as there may be.
job* prefill_state::open_job(std::uint64_t request) {
  if (auto* known = find(request))
    return known;
  if (jobs_.size() >= how_.requests_max)
    return nullptr;
  auto& made = jobs_[request];
  made.request = request;
  return &made;
}

void prefill_state::keep_until(job& one, moment span) {
  constexpr moment longest = std::chrono::hours{24};
  auto is_sane = span >= moment{0} && span < longest; // it came as an unsigned number
  one.deadline = desk_.now() + (is_sane ? span : longest);
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
  if (one.fetch_ticket != 0)
    moves_.abort(*one.plan, one.fetch_ticket);
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
  jobs_.erase(one.request);
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
      if (auto* one = find(request))
        look_after(*one);
    }
    admit();
  } while (!pump());
  changed();
}

void prefill_state::on_deadline(std::uint64_t request) {
  if (auto* one = find(request))
    end(*one, End::DEADLINE);
}

void prefill_state::on_cancel(const Msg<schema::Cancel>& wish) {
  auto gateway = to_name<gateway_name>(wish->getGateway());
  auto request = wish->getRequest();
  if (!is_current(wish, gateway))
    return;
  auto* one = find(request);
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

// -- who is there -------------------------------------------------------------

template <class Is>
void prefill_state::end_all(End how, Is is) {
  for (auto& [request, one] : jobs_)
    if (one.plan && is(one))
      end(one, how);
}

void prefill_state::on_member(const Msg<schema::Member>& news) {
  if (!is_current(news, cluster_name{desk_.me().node, 0}))
    return;
  auto is = [who = news->getWho()](const auto& one) {
    return who.getNode() == static_cast<std::uint32_t>(one.node)
           && who.getIndex() == one.index;
  };
  if (news->getUp()) {
    if (news->getRole() == schema::Role::CONDUCTOR)
      report(); // it knows nothing of us
    return settle();
  }
  switch (news->getRole()) {
    case schema::Role::DECODE:
      for (auto& [request, one] : jobs_)
        if (one.plan && is(one.decode()))
          one.landed = true; // nobody wants to know
      end_all(End::ACTOR_LOST, [&](const job& one) {
        return is(one.decode()) && one.now != stage::handed_off;
      });
      end_all(End::NONE, [&](const job& one) { return is(one.decode()); });
      break;
    case schema::Role::GATEWAY:
      end_all(End::NONE, [&](const job& one) { return is(one.gateway()); });
      break;
    case schema::Role::SHARD:
      if (is(shard_name{desk_.me().node, 0}))
        pool_.lose();
      pins_.expire_if([&](auto request) { return is(jobs_.at(request).source()); });
      for (auto& [request, one] : jobs_)
        if (one.fetch_ticket != 0 && is(one.source()))
          moves_.abort(*one.plan, one.fetch_ticket);
      break;
    case schema::Role::TRANSFER:
      if (is(transfer_name{desk_.me().node, 0}))
        moves_.lose();
      break;
    default: break;
  }
  settle();
}

// -- reports, and time --------------------------------------------------------

void prefill_state::report_end(job& one) {
  if (!std::exchange(one.was_reported, true))
    reported_ended_.push_back(one.request);
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
  constexpr std::size_t ended_max = 4096; // of one report
  auto ended = std::min(reported_ended_.size(), ended_max);
  bool there
    = desk_.tell<schema::PrefillLoad>(conductor_name{how_.control, 0}, rt::unprompted,
                                      [&](schema::PrefillLoad::Builder news) {
                                        set_name(news.initWho(), desk_.me());
                                        write_load(news);
                                        news.setEnded({reported_ended_.data(), ended});
                                      });
  if (!there) // who comes in its place knows none of them
    ended = reported_ended_.size();
  reported_ended_.erase(reported_ended_.begin(),
                        reported_ended_.begin() + static_cast<std::ptrdiff_t>(ended));
}

void prefill_state::write_load(schema::PrefillLoad::Builder news) const {
  std::uint64_t tokens = 0;
  std::uint32_t waiting = 0, running = 0;
  for (const auto& [request, one] : jobs_) {
    if (!one.plan || one.now > stage::computing)
      continue;
    auto reused = (*one.plan)->getReuseBlocks() * block_tokens_;
    tokens
      += one.prompt_tokens() - (one.now < stage::computing ? reused : one.computed);
    ++(one.times.compute_began == moment{} ? waiting : running);
  }
  news.setWaiting(waiting);
  news.setRunning(running);
  news.setQueuedTokens(tokens);
  news.setBlocksFree(static_cast<std::uint32_t>(ledger_.counts().free));
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
  }
  if (!touched_.empty())
    settle();
}

job* prefill_state::find(std::uint64_t request) {
  auto at = jobs_.find(request);
  return at == jobs_.end() ? nullptr : &at->second;
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
         + text(" chunk_tokens", how.chunk_tokens)
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
