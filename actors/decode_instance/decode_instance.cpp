#include "actors/decode_instance/decode_instance.hpp"

#include "actors/decode_instance/decode_state.hpp"
#include "schemas/convert.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::decode {
namespace {

// What the timers are for: see on_due().
enum timer : std::uint64_t {
  of_deadlines,
  of_ended,
  of_retries,
  of_quiesces,
  of_pool,
  timers
};

// A transfer actor may take so long to end a lost writer's movements before it is asked
// again.
constexpr moment quiesce_limit = std::chrono::seconds{1};

} // namespace

decode_state::decode_state(handle::pointer self, const rt::world& in,
                           engine::arena_view arena, options how,
                           std::shared_ptr<probe> counts)
  : self_(self), desk_(self, in, name), log_(in.log->clone(name)), how_(how),
    probe_(std::move(counts)), block_tokens_(arena.layout.block_tokens),
    blocks_total_(arena.blocks),
    ledger_(arena.blocks, shard::make_eviction_policy("lru")),
    tickets_(static_cast<std::uint64_t>(desk_.tag())), line_(how.waiting_max),
    moves_(desk_, tickets_), pace_(how.report_every),
    deadlines_(
      how.requests_max,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_deadlines); },
      [this](auto request, char) { on_deadline(request); }),
    ended_(
      4 * how.requests_max,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_ended); },
      [](auto, char) {}),
    retries_(
      64, [this](auto due, auto epoch) { wake_at(due, epoch, of_retries); },
      [](auto, char) {}),
    quiesces_(
      how.requests_max,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_quiesces); },
      [this](auto, lost_writer of) { quiesce(of.tag, of.node); }),
    pool_(desk_, tickets_, moves_, how.requests_max, how.pool_limit, how.move_limit,
          [this](auto due, auto epoch) { wake_at(due, epoch, of_pool); }) {
  show_holdings();
}

decode_state::handle::behavior_type decode_state::make_behavior() {
  return {
    desk_.on(this, &decode_state::on_expect),
    desk_.on(this, &decode_state::on_room),
    desk_.on(this, &decode_state::on_handoff),
    desk_.on(this, &decode_state::on_landed),
    desk_.on(this, &decode_state::on_cancel),
    desk_.on(this, &decode_state::on_reserved),
    desk_.on(this, &decode_state::on_moved),
    desk_.on(this, &decode_state::on_quiesced),
    desk_.on(this, &decode_state::on_forwarded),
    desk_.on(this, &decode_state::on_member),
    desk_.on(this, &decode_state::on_due),
    desk_.on(this, &decode_state::on_tick),
  };
}

// -- a request comes ----------------------------------------------------------

void decode_state::on_expect(const Msg<schema::Expect>& news) {
  if (!is_current(news, conductor_name{how_.control, 0}))
    return;
  auto request = news->getRequest();
  if (ended_.find(request) || guests_.contains(request))
    return; // it has overtaken this
  auto* one = open_guest(request);
  if (!one)
    return; // a forecast less
  one->gateway = to_name<gateway_name>(news->getGateway());
  one->prefill = to_name<prefill_name>(news->getPrefill());
  one->why = news;
  keep_until(*one, news->getRemainingNs());
  settle();
}

void decode_state::on_room(const Msg<schema::Room>& wish) {
  auto prefill = to_name<prefill_name>(wish->getPrefill());
  auto request = wish->getRequest();
  if (!is_current(wish, prefill))
    return;
  if (ended_.find(request))
    return tell_roomed(prefill, request, wish, [](auto said) { said.setGone(); });
  auto* one = open_guest(request);
  if (!one || one->now != stage::expected)
    return tell_roomed(prefill, request, wish, [](auto said) { said.setBusy(); });
  one->gateway = to_name<gateway_name>(wish->getGateway());
  one->prefill = prefill;
  one->writer = rt::actor_tag{wish->getHeader().getSender()};
  one->why = wish;
  one->prompt_tokens = wish->getPromptTokens();
  one->age = ++ages_;
  keep_until(*one, wish->getRemainingNs());
  // One token more than the prompt must find place, or nothing can be drawn.
  bool fits = blocks_for(one->prompt_tokens + 1) <= blocks_total_;
  if (fits && line_.join(request, blocks_for(one->prompt_tokens))) {
    one->now = stage::lining;
  } else {
    tell_roomed(prefill, request, wish, [](auto said) { said.setBusy(); });
    end(*one, End::NONE);
  }
  settle();
}

/// Null if there are as many as there may be.
guest* decode_state::open_guest(std::uint64_t request) {
  if (auto* known = find(request))
    return known;
  if (guests_.size() >= how_.requests_max)
    return nullptr;
  auto& made = guests_[request];
  made.request = request;
  made.owner = ++owners_;
  return &made;
}

void decode_state::keep_until(const guest& one, std::uint64_t remaining_ns) {
  constexpr moment longest = std::chrono::hours{24};
  auto span = std::min(remaining_ns, static_cast<std::uint64_t>(longest.count()));
  deadlines_.take(one.request);
  bool kept = deadlines_.put(one.request, desk_.now() + moment{span}, {});
  PERIGEE_ASSERT(kept, "as many deadlines as requests");
}

/// Gives blocks to whose turn it is, after those who are in the pool. Every sequence
/// that decodes may need one soon.
void decode_state::give_rooms() {
  while (line_.size() > 0 && count_at(stage::parked) == 0) {
    auto free = ledger_.counts().free;
    auto next = line_.next(free - std::min(free, count_at(stage::ready)));
    if (!next)
      return;
    give_room(guests_.at(*next));
  }
}

void decode_state::give_room(guest& one) {
  take_blocks(one, blocks_for(one.prompt_tokens));
  one.now = stage::receiving;
  one.was_given = true;
  tell_roomed(one.prefill, one.request, one.why, [&](schema::Roomed::Builder said) {
    auto given = said.initGiven();
    given.setSegment(how_.segment);
    given.setBlocks({one.blocks.data(), one.blocks.size()});
  });
}

// -- and is taken over --------------------------------------------------------

void decode_state::on_handoff(const Msg<schema::Handoff>& news) {
  auto prefill = to_name<prefill_name>(news->getPrefill());
  if (!is_current(news, prefill))
    return;
  auto* one = find(news->getRequest());
  bool awaits = one && (one->now == stage::lining || one->now == stage::receiving);
  if (!awaits || one->is_accepted() || one->prefill != prefill
      || one->prompt_tokens != news->getPromptTokens())
    return tell_handed_off(prefill, news, [](auto said) { said.setGone(); });
  auto limit = news->getTbtLimitNs() != 0 ? moment{news->getTbtLimitNs()}
                                          : moment{how_.tbt_limit};
  auto predicted = predict_with(*one);
  if (predicted > limit)
    refuse(*one, news,
           static_cast<double>(predicted.count()) / static_cast<double>(limit.count()));
  else
    accept(*one, news);
  settle();
}

/// How long a step will take with one more. 0 if nobody else is here: it can't be worse
/// than alone, and only steps that are taken show whether it is.
moment decode_state::predict_with(const guest& newcomer) const {
  step_load load{1, std::size_t{newcomer.prompt_tokens} + 1};
  for (const auto& [request, one] : guests_)
    if (one.is_accepted() && one.now != stage::ending) {
      ++load.sequences;
      load.kv_tokens += one.answer->kv_tokens() + 1;
    }
  return load.sequences == 1 ? moment{} : tbt_.predict(load);
}

void decode_state::refuse(guest& one, const Msg<schema::Handoff>& news, double load) {
  probe_->refused();
  tell_handed_off(one.prefill, news, [&](schema::HandedOff::Builder said) {
    auto refusal = said.initRefused();
    refusal.setWhy(schema::Refusal::Reason::DECODE_LOAD);
    refusal.setLoad(load);
    refusal.setRetryAfterNs(1'000'000'000);
  });
  end(one, End::NONE);
}

void decode_state::accept(guest& one, const Msg<schema::Handoff>& news) {
  probe_->accepted();
  one.handoff = news;
  one.why = news;
  one.accepted_at = desk_.now();
  auto parent = news->getParent();
  sequence::prompt before{
    news->getPromptTokens(), {}, {parent.getHigh(), parent.getLow()}};
  for (auto token : news->getTail())
    before.tail.push_back(token);
  one.answer.emplace(std::move(before), news->getFirst().getToken(),
                     news->getTokensMax(), block_tokens_);
  keep_until(one, news->getRemainingNs());
  reported_began_.push_back(one.request);
  tell_handed_off(one.prefill, news, [](auto said) { said.setAccepted(); });
  tell_first(one);
}

void decode_state::tell_first(const guest& one) {
  desk_.tell<schema::Tokens>(one.gateway, one.why, [&](schema::Tokens::Builder news) {
    auto run = news.initRuns(1)[0];
    run.setRequest(one.request);
    run.initTokens(1).setWithCaveats(0, (*one.handoff)->getFirst());
    run.setCachedTokens((*one.handoff)->getCachedTokens());
    run.setStages((*one.handoff)->getStages());
  });
}

void decode_state::on_landed(const Msg<schema::Landed>& news) {
  auto* one = find(news->getRequest());
  if (!one || one->landed)
    return probe_->dropped_stale();
  if (!is_current(news, one->prefill))
    return;
  one->landed = true;
  touched_.insert(one->request);
  if (one->now == stage::receiving && one->is_accepted() && news->getOk()) {
    one->now = stage::ready;
    one->landed_at = desk_.now();
    interrupt(); // the next batch is another
  } else {
    end(*one, one->is_accepted() ? End::TRANSFER_FAILED : End::NONE);
  }
  settle();
}

// -- its end ------------------------------------------------------------------

/// Tells the gateway, unless it is `NONE`: then it knows already, or somebody else will
/// tell it. What is under way is stopped, and the rest follows when that has ended.
void decode_state::end(guest& one, End how) {
  touched_.insert(one.request);
  if (one.now == stage::ending)
    return;
  if (how != End::NONE) {
    probe_->failed();
    desk_.tell<schema::Tokens>(one.gateway, one.why, [&](schema::Tokens::Builder news) {
      auto run = news.initRuns(1)[0];
      run.setRequest(one.request);
      write_end(run, one, how);
    });
  }
  if (one.now == stage::lining)
    tell_roomed(one.prefill, one.request, one.why, [](auto said) { said.setGone(); });
  one.has_offer = one.now == stage::ready;
  one.now = stage::ending;
  deadlines_.take(one.request);
  line_.leave(one.request);
  if (one.in_run)
    interrupt();
  if (one.fetch_ticket != 0)
    moves_.abort(one.why, one.fetch_ticket);
  reported_ended_.emplace_back(
    one.request, one.is_accepted() ? desk_.now() - one.accepted_at : moment{});
}

/// What a guest needs after whatever has just happened to it.
void decode_state::look_after(guest& one) {
  if (one.now != stage::ending || one.is_in_use())
    return;
  if (!std::exchange(one.has_offer, false) || !offer(one))
    close(one);
}

/// Nobody reads or writes its blocks any more.
void decode_state::close(guest& one) {
  free_blocks_from(one, 0);
  if (one.kept)
    pool_.release(one.why, one.kept->grant);
  if (one.has_sequence)
    sequences_ended_.push_back(one.owner);
  if (one.has_cancel)
    tell_cancelled(one.gateway, one.request, one.why);
  remember(one.request);
  guests_.erase(one.request);
}

void decode_state::remember(std::uint64_t request) {
  if (!ended_.find(request)
      && !ended_.put(request, desk_.now() + how_.memory_limit, {}))
    log_->debug("memory_full");
}

/// What follows from what has just happened. At the end of every handler.
void decode_state::settle() {
  do {
    while (!touched_.empty()) {
      auto request = *touched_.begin();
      touched_.erase(touched_.begin());
      if (auto* one = find(request))
        look_after(*one);
    }
    bring_back();
    give_rooms();
  } while (!pump());
  changed();
}

void decode_state::on_deadline(std::uint64_t request) {
  if (auto* one = find(request)) // before it is accepted, the group tells the gateway
    end(*one, one->is_accepted() ? End::DEADLINE : End::NONE);
}

void decode_state::on_cancel(const Msg<schema::Cancel>& wish) {
  auto gateway = to_name<gateway_name>(wish->getGateway());
  auto request = wish->getRequest();
  if (!is_current(wish, gateway))
    return;
  auto* one = find(request);
  if (one && one->gateway == gateway) {
    probe_->cancelled();
    one->has_cancel = true;
    end(*one, End::NONE);
  } else {
    remember(request);
    tell_cancelled(gateway, request, wish);
  }
  settle();
}

void decode_state::tell_cancelled(const gateway_name& whom, std::uint64_t request,
                                  const rt::cause& why) {
  desk_.tell<schema::Cancelled>(whom, why, [&](schema::Cancelled::Builder news) {
    news.setRequest(request);
    news.setBy(schema::Role::DECODE);
  });
}

// -- who is there -------------------------------------------------------------

void decode_state::on_member(const Msg<schema::Member>& news) {
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
    case schema::Role::PREFILL:
      lose_writer(rt::actor_tag{news->getTag()}, to_name<prefill_name>(news->getWho()));
      break;
    case schema::Role::GATEWAY:
      for (auto& [request, one] : guests_)
        if (is(one.gateway))
          end(one, End::NONE);
      break;
    case schema::Role::SHARD:
      if (is(shard_name{desk_.me().node, 0}))
        lose_shard();
      break;
    case schema::Role::TRANSFER:
      if (is(transfer_name{desk_.me().node, 0}))
        moves_.lose();
      break;
    default: break;
  }
  settle();
}

/// What it wrote here isn't whole, and its movements may not be over.
void decode_state::lose_writer(rt::actor_tag writer, const prefill_name& whom) {
  bool writes = false;
  for (auto& [request, one] : guests_) {
    bool is_its
      = one.writer == writer || (one.now == stage::expected && one.prefill == whom);
    if (!is_its || one.landed)
      continue;
    writes = writes || one.was_given;
    end(one, one.is_accepted() ? End::ACTOR_LOST : End::NONE);
  }
  if (writes)
    quiesce(writer, whom.node);
}

void decode_state::quiesce(rt::actor_tag writer, node_index where) {
  auto ticket = ++tickets_;
  if (!quiesces_.put(ticket, desk_.now() + quiesce_limit, {writer, where}))
    return log_->error("quiesces_full");
  // If nobody is there now, somebody will be when we ask again.
  desk_.tell<schema::Quiesce>(transfer_name{where, 0}, rt::unprompted,
                              [&](schema::Quiesce::Builder wish) {
                                set_asker(wish.initAsker(), desk_.me());
                                wish.setTicket(ticket);
                                wish.setWriter(static_cast<std::uint64_t>(writer));
                              });
}

void decode_state::on_quiesced(const Msg<schema::Quiesced>& said) {
  const auto* asked = quiesces_.find(said->getTicket());
  if (!asked)
    return probe_->dropped_stale();
  if (!is_current(said, transfer_name{asked->node, 0}))
    return;
  auto writer = quiesces_.take(said->getTicket())->tag;
  for (auto& [request, one] : guests_)
    if (one.writer == writer) {
      one.landed = true;
      touched_.insert(request);
    }
  settle();
}

/// What was parked there is lost.
void decode_state::lose_shard() {
  pool_.lose();
  for (auto& [request, one] : guests_)
    if (std::exchange(one.kept, std::nullopt))
      end(one, End::ACTOR_LOST);
}

// -- what it is answered by others --------------------------------------------

void decode_state::on_reserved(const Msg<schema::Reserved>& said) {
  if (!pool_.took(said))
    return probe_->dropped_stale();
  settle();
}

void decode_state::on_moved(const Msg<schema::Moved>& said) {
  if (!moves_.took(said))
    return probe_->dropped_stale();
  settle();
}

// -- reports, and time --------------------------------------------------------

void decode_state::changed() {
  show_holdings();
  if (pace_.changed(desk_.now()))
    return report();
  if (auto due = pace_.take_tick())
    desk_.tell_after<schema::Tick>(handle{self_}, *due - desk_.now(), rt::unprompted,
                                   [](auto) {});
}

void decode_state::on_tick(const Msg<schema::Tick>&) {
  pace_.ticked(desk_.now());
  report();
}

void decode_state::report() {
  constexpr std::size_t listed_max = 4096; // of one report
  auto began = std::min(reported_began_.size(), listed_max);
  auto ended = std::min(reported_ended_.size(), listed_max);
  bool there = desk_.tell<schema::DecodeLoad>(
    conductor_name{how_.control, 0}, rt::unprompted,
    [&](schema::DecodeLoad::Builder news) {
      set_name(news.initWho(), desk_.me());
      write_load(news);
      news.setBegan({reported_began_.data(), began});
      auto gone = news.initEnded(static_cast<unsigned>(ended));
      for (unsigned i = 0; i < gone.size(); ++i) {
        gone[i].setRequest(reported_ended_[i].first);
        gone[i].setDecodedNs(
          static_cast<std::uint64_t>(reported_ended_[i].second.count()));
      }
    });
  auto forget = [there](auto& list, std::size_t told) {
    auto first = static_cast<std::ptrdiff_t>(there ? told : list.size());
    list.erase(list.begin(),
               list.begin() + first); // a new conductor knows none of them
  };
  forget(reported_began_, began);
  forget(reported_ended_, ended);
}

void decode_state::write_load(schema::DecodeLoad::Builder news) const {
  std::uint32_t sequences = 0, waiting = 0;
  std::uint64_t kv_tokens = 0;
  for (const auto& [request, one] : guests_) {
    if (!one.is_accepted() || one.now == stage::ending)
      continue;
    ++(one.began_at != moment{} && one.now == stage::ready ? sequences : waiting);
    kv_tokens += one.answer->kv_tokens();
  }
  news.setSequences(sequences);
  news.setWaiting(waiting);
  news.setKvTokens(kv_tokens);
  news.setBlocksFree(static_cast<std::uint32_t>(ledger_.counts().free));
  news.setStepNs(static_cast<std::uint64_t>(tbt_.recent().count()));
}

std::size_t decode_state::count_at(stage now) const {
  return static_cast<std::size_t>(
    std::count_if(guests_.begin(), guests_.end(),
                  [now](const auto& entry) { return entry.second.now == now; }));
}

void decode_state::show_holdings() {
  auto counts = ledger_.counts();
  probe_->holds({guests_.size(), count_at(stage::ready), line_.size(),
                 count_at(stage::parked), moves_.size(),
                 pool_.size() + quiesces_.size(), deadlines_.size(),
                 blocks_total_ - counts.free, counts.free});
}

void decode_state::wake_at(moment due, std::uint64_t epoch, std::uint64_t table) {
  desk_.tell_after<schema::Due>(
    handle{self_}, due - desk_.now(), rt::unprompted,
    [&](auto news) { news.setEpoch(epoch * timers + table); });
}

void decode_state::on_due(const Msg<schema::Due>& news) {
  auto epoch = news->getEpoch() / timers;
  switch (news->getEpoch() % timers) {
    case of_deadlines: deadlines_.on_timer(epoch, desk_.now()); break;
    case of_ended: ended_.on_timer(epoch, desk_.now()); break;
    case of_retries: retries_.on_timer(epoch, desk_.now()); break;
    case of_quiesces: quiesces_.on_timer(epoch, desk_.now()); break;
    case of_pool: pool_.on_timer(epoch); break;
  }
  if (!touched_.empty() || news->getEpoch() % timers == of_retries)
    settle();
}

guest* decode_state::find(std::uint64_t request) {
  auto at = guests_.find(request);
  return at == guests_.end() ? nullptr : &at->second;
}

// -- starting -----------------------------------------------------------------

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  return text("control", static_cast<unsigned>(how.control))
         + text(" engine", how.engine) + text(" segment", how.segment)
         + text(" batch_max", how.batch_max) + text(" steps_max", how.steps_max)
         + text(" tbt_limit_ms", how.tbt_limit.count())
         + text(" requests_max", how.requests_max)
         + text(" waiting_max", how.waiting_max)
         + text(" pool_limit_ms", how.pool_limit.count())
         + text(" move_limit_ms", how.move_limit.count())
         + text(" park_limit_ms", how.park_limit.count())
         + text(" memory_limit_ms", how.memory_limit.count())
         + text(" report_every_ms", how.report_every.count());
}

decode_actor start(const rt::world& in, rt::place where, engine::arena_view arena,
                   options how, std::shared_ptr<probe> counts) {
  return rt::spawn<decode_state>(in, where, rt::arguments{to_string(how)}, arena, how,
                                 std::move(counts));
}

} // namespace perigee::decode
