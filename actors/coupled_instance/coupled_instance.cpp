#include "actors/coupled_instance/coupled_instance.hpp"

#include "actors/coupled_instance/coupled_state.hpp"

#include <spdlog/logger.h>

namespace perigee::coupled {
namespace {

// What the timers are for: see on_due().
enum timer : std::uint64_t { of_deadlines, of_ended, timers };

// And the ticks: see on_tick().
enum tick : std::uint64_t { of_reports, of_feed };

constexpr std::size_t listed_max = 4096; // of one report

line_limits limits_of(const options& how) {
  line_limits limits;
  limits.token_budget = how.token_budget;
  limits.sequences_max = how.sequences_max;
  limits.steps_max = how.steps_max;
  limits.watermark = how.scheduler == "prefill_first" ? 0.01 : 0;
  limits.news_bytes_max = message_bytes_max / 4; // of a Forward
  return limits;
}

} // namespace

coupled_state::coupled_state(handle::pointer self, const rt::world& in,
                             engine::arena_view arena, options how,
                             std::shared_ptr<probe> counts)
  : self_(self), desk_(self, in, name), log_(in.log->clone(name)), how_(how),
    schedule_(find_scheduler(how.scheduler)), probe_(std::move(counts)),
    block_tokens_(arena.layout.block_tokens),
    line_(arena_tables{arena.blocks, block_tokens_, how.keeps_prefixes},
          limits_of(how)),
    tickets_(static_cast<std::uint64_t>(desk_.tag())), pace_(how.report_every),
    feed_(desk_, conductor_name{how.control, 0}, how.report_every,
          [this](auto due) { tick_at(due, of_feed); }),
    untold_prefilled_(listed_max), untold_began_(listed_max), untold_ended_(listed_max),
    deadlines_(
      how.requests_max,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_deadlines); },
      [this](auto request, char) { on_deadline(request); }),
    ended_(
      4 * how.requests_max,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_ended); },
      [](auto, char) {}) {
  PERIGEE_ASSERT(schedule_, "a scheduler that there is");
  show_holdings();
}

coupled_state::handle::behavior_type coupled_state::make_behavior() {
  return {
    desk_.on(this, &coupled_state::on_prefill),
    desk_.on(this, &coupled_state::on_prompt),
    desk_.on(this, &coupled_state::on_cancel),
    desk_.on(this, &coupled_state::on_forwarded),
    desk_.on(this, &coupled_state::on_recount),
    desk_.on(this, &coupled_state::on_member),
    desk_.on(this, &coupled_state::on_due),
    desk_.on(this, &coupled_state::on_tick),
  };
}

// -- its end ------------------------------------------------------------------

/// Tells the gateway, unless it is `NONE`: then it knows already, or somebody else will
/// tell it.
void coupled_state::end(resident& one, End how) {
  touched_.insert(one.request);
  if (one.now == stage::ending)
    return;
  if (how != End::NONE && one.plan) {
    probe_->failed();
    desk_.tell<schema::Tokens>(
      one.gateway(), *one.plan,
      [&](schema::Tokens::Builder news) { write_end(news.initRuns(1)[0], one, how); });
  }
  one.now = stage::ending;
  deadlines_.take(one.request);
  if (one.in_forward)
    interrupt();
  if (!one.plan)
    return;
  report_first(one);
  untold_ended_.add(
    {one.request, one.first_at == moment{} ? moment{} : desk_.now() - one.first_at});
}

/// What a resident needs after whatever has just happened to it.
void coupled_state::look_after(resident& one) {
  if (one.now == stage::ending && !one.in_forward)
    close(one);
}

/// No engine is working on it any more.
void coupled_state::close(resident& one) {
  if (one.place)
    line_.remove(one.request);
  if (one.has_cancel)
    tell_cancelled(one.gateway(), one.request, *one.plan);
  remember(one.request);
  residents_.erase(one.request);
}

void coupled_state::remember(std::uint64_t request) {
  if (!ended_.find(request)
      && !ended_.put(request, desk_.now() + how_.memory_limit, {}))
    log_->debug("memory_full");
}

/// What follows from what has just happened. At the end of every handler.
void coupled_state::settle() {
  do {
    while (!touched_.empty()) {
      auto found = residents_.find(*touched_.begin());
      touched_.erase(touched_.begin());
      if (found != residents_.end())
        look_after(found->second);
    }
  } while (!pump() || !touched_.empty());
  changed();
}

void coupled_state::on_deadline(std::uint64_t request) {
  auto found = residents_.find(request);
  if (found != residents_.end())
    end(found->second, End::DEADLINE);
}

void coupled_state::on_cancel(const Msg<schema::Cancel>& wish) {
  auto gateway = to_name<gateway_name>(wish->getGateway());
  auto request = wish->getRequest();
  if (!is_current(wish, gateway))
    return;
  auto found = residents_.find(request);
  bool is_its = found != residents_.end() && found->second.plan
                && found->second.gateway() == gateway;
  if (is_its) {
    probe_->cancelled();
    found->second.has_cancel = true;
  } else {
    remember(request);
    tell_cancelled(gateway, request, wish);
  }
  if (found != residents_.end() && (is_its || !found->second.plan))
    end(found->second, End::NONE);
  settle();
}

void coupled_state::tell_cancelled(const gateway_name& whom, std::uint64_t request,
                                   const rt::cause& why) {
  desk_.tell<schema::Cancelled>(whom, why, [&](schema::Cancelled::Builder news) {
    news.setRequest(request);
    news.setBy(schema::Role::COUPLED);
  });
}

// -- who is there -------------------------------------------------------------

void coupled_state::on_member(const Msg<schema::Member>& news) {
  if (!is_current(news, cluster_name{desk_.me().node, 0}))
    return;
  if (news->getUp() && news->getRole() == schema::Role::CONDUCTOR)
    report(); // it knows nothing of us
  if (!news->getUp() && news->getRole() == schema::Role::GATEWAY)
    for (auto& [request, one] : residents_)
      if (one.plan && one.gateway() == to_name<gateway_name>(news->getWho()))
        end(one, End::NONE);
  settle();
}

// -- what the conductor is told -----------------------------------------------

void coupled_state::on_recount(const Msg<schema::Recount>& wish) {
  if (is_current(wish, conductor_name{how_.control, 0}))
    feed_.recount(line_.changes(), line_.tables().ledger());
}

/// It has its first token, or will have none. Said once.
void coupled_state::report_first(resident& one) {
  if (std::exchange(one.was_reported, true))
    return;
  untold_prefilled_.add(one.request);
  if (one.first_at != moment{} && (*one.plan)->getTokensMax() > 1)
    untold_began_.add(one.request);
}

/// Steps alone are no change: so long runs of them say what single ones do.
void coupled_state::changed() {
  show_holdings();
  feed_.announce(line_.changes());
  auto now = line_.sum();
  if (!now.is_of_same_requests(now_))
    now_ = now;
  bool is_news = !told_ || !now_.is_of_same_requests(*told_)
                 || !untold_prefilled_.empty() || !untold_ended_.empty();
  if (!is_news)
    return;
  if (pace_.changed(desk_.now()))
    return report();
  if (auto due = pace_.take_tick())
    tick_at(*due, of_reports);
}

void coupled_state::report() {
  told_ = now_;
  do
    report_prefill();
  while (!untold_prefilled_.empty());
  do
    report_decode();
  while (!untold_began_.empty() || !untold_ended_.empty());
}

void coupled_state::report_prefill() {
  bool there
    = desk_.tell<schema::PrefillLoad>(conductor_name{how_.control, 0}, rt::unprompted,
                                      [&](schema::PrefillLoad::Builder news) {
                                        set_name(news.initWho(), desk_.me());
                                        news.setWaiting(now_.waiting);
                                        news.setRunning(now_.prefilling);
                                        news.setQueuedTokens(now_.tokens_ahead);
                                        auto ended = untold_prefilled_.part();
                                        news.setEnded({ended.data(), ended.size()});
                                      });
  untold_prefilled_.told();
  if (!there) // who comes in its place knows none of them
    untold_prefilled_.forget();
}

void coupled_state::report_decode() {
  auto blocks = line_.tables().blocks();
  bool there = desk_.tell<schema::DecodeLoad>(
    conductor_name{how_.control, 0}, rt::unprompted,
    [&](schema::DecodeLoad::Builder news) {
      set_name(news.initWho(), desk_.me());
      news.setSequences(now_.answered);
      news.setKvTokens(now_.answered_kv);
      news.setBlocksFree(static_cast<std::uint32_t>(
        blocks - std::min<std::size_t>(blocks, now_.blocks_needed)));
      auto began = untold_began_.part();
      news.setBegan({began.data(), began.size()});
      auto ended = untold_ended_.part();
      auto gone = news.initEnded(static_cast<unsigned>(ended.size()));
      for (unsigned i = 0; i < gone.size(); ++i) {
        gone[i].setRequest(ended[i].request);
        gone[i].setDecodedNs(static_cast<std::uint64_t>(ended[i].decoded.count()));
      }
    });
  untold_began_.told();
  untold_ended_.told();
  if (!there) {
    untold_began_.forget();
    untold_ended_.forget();
  }
}

void coupled_state::show_holdings() {
  auto counts = line_.tables().counts();
  auto cached = counts.sealed - counts.leased;
  probe_->holds({residents_.size(), line_.served().size(), line_.waiting(),
                 deadlines_.size(), counts.writing + counts.leased, cached,
                 counts.free});
}

// -- time ---------------------------------------------------------------------

void coupled_state::wake_at(moment due, std::uint64_t epoch, std::uint64_t table) {
  desk_.tell_after<schema::Due>(
    handle{self_}, due - desk_.now(), rt::unprompted,
    [&](auto news) { news.setEpoch(epoch * timers + table); });
}

void coupled_state::on_due(const Msg<schema::Due>& news) {
  auto epoch = news->getEpoch() / timers;
  switch (news->getEpoch() % timers) {
    case of_deadlines: deadlines_.on_timer(epoch, desk_.now()); break;
    case of_ended: ended_.on_timer(epoch, desk_.now()); break;
  }
  if (!touched_.empty())
    settle();
}

void coupled_state::tick_at(moment due, std::uint64_t what) {
  desk_.tell_after<schema::Tick>(handle{self_}, due - desk_.now(), rt::unprompted,
                                 [&](auto news) { news.setEpoch(what); });
}

void coupled_state::on_tick(const Msg<schema::Tick>& timer) {
  if (timer->getEpoch() == of_feed)
    return feed_.on_tick(line_.changes());
  pace_.ticked(desk_.now());
  report();
}

// -- starting -----------------------------------------------------------------

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  return text("control", static_cast<unsigned>(how.control))
         + text(" engine", how.engine) + " scheduler=" + how.scheduler
         + text(" token_budget", how.token_budget)
         + text(" sequences_max", how.sequences_max) + text(" steps_max", how.steps_max)
         + text(" keeps_prefixes", how.keeps_prefixes)
         + text(" requests_max", how.requests_max)
         + text(" join_limit_ms", how.join_limit.count())
         + text(" memory_limit_ms", how.memory_limit.count())
         + text(" report_every_ms", how.report_every.count());
}

coupled_actor start(const rt::world& in, rt::place where, engine::arena_view arena,
                    options how, std::shared_ptr<probe> counts) {
  return rt::spawn<coupled_state>(in, where, rt::arguments{to_string(how)}, arena, how,
                                  std::move(counts));
}

} // namespace perigee::coupled
