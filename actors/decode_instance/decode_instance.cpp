#include "actors/decode_instance/decode_instance.hpp"

#include "actors/decode_instance/decode_state.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::decode {
namespace {

// What the timers are for: see on_due().
enum timer : std::uint64_t {
  of_deadlines,
  of_ended,
  of_retries,
  of_lost,
  of_pool,
  timers
};

constexpr std::size_t listed_max = 4096; // of one report

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
    moves_(desk_, in.roster, tickets_), pace_(how.report_every), guests_(how.requests_max),
    untold_began_(listed_max), untold_ended_(listed_max),
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
    lost_(
      desk_, tickets_, how.requests_max, quiesce_limit,
      [this](auto due, auto epoch) { wake_at(due, epoch, of_lost); },
      [this](auto writer) { forget_writer(writer); }),
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
  untold_ended_.add(
    {one.request, one.is_accepted() ? desk_.now() - one.accepted_at : moment{}});
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
  guests_.close(one.request);
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
      if (auto* one = guests_.find(request))
        look_after(*one);
    }
    bring_back();
    give_rooms();
  } while (!pump() || !touched_.empty());
  changed();
}

void decode_state::on_deadline(std::uint64_t request) {
  if (auto* one
      = guests_.find(request)) // before it is accepted, the group tells the gateway
    end(*one, one->is_accepted() ? End::DEADLINE : End::NONE);
}

void decode_state::on_cancel(const Msg<schema::Cancel>& wish) {
  auto gateway = to_name<gateway_name>(wish->getGateway());
  auto request = wish->getRequest();
  if (!is_current(wish, gateway))
    return;
  auto* one = guests_.find(request);
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

/// Steps alone are no change: the conductor can count, and would hear of nothing else.
void decode_state::changed() {
  show_holdings();
  auto all = guests_.sum(steps_taken());
  bool is_news = all.sequences != told_.sequences || all.waiting != told_.waiting
                 || !untold_began_.empty() || !untold_ended_.empty();
  if (!is_news)
    return;
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
  do {
    bool there = desk_.tell<schema::DecodeLoad>(
      conductor_name{how_.control, 0}, rt::unprompted,
      [&](schema::DecodeLoad::Builder news) { write_load(news); });
    untold_began_.told();
    untold_ended_.told();
    if (!there) { // who comes in its place knows none of them
      untold_began_.forget();
      untold_ended_.forget();
    }
  } while (!untold_began_.empty() || !untold_ended_.empty());
}

/// Of the running batch, by the estimate.
std::uint32_t decode_state::steps_taken() const {
  return batch_.steps_by(desk_.now());
}

/// What a run has taken in advance counts as free.
std::size_t decode_state::blocks_free() const {
  auto held = blocks_total_ - ledger_.counts().free;
  for (const auto& [request, one] : guests_)
    if (one.batch_kv_tokens)
      held
        = held + blocks_for(one.kv_tokens_after(steps_taken()) + 1) - one.blocks.size();
  return blocks_total_ - std::min(held, blocks_total_);
}

void decode_state::write_load(schema::DecodeLoad::Builder news) {
  set_name(news.initWho(), desk_.me());
  told_ = guests_.sum(steps_taken());
  news.setSequences(told_.sequences);
  news.setWaiting(told_.waiting);
  news.setKvTokens(told_.kv_tokens);
  news.setStepNs(static_cast<std::uint64_t>(tbt_.recent().count()));
  news.setBlocksFree(static_cast<std::uint32_t>(blocks_free()));
  auto began = untold_began_.part();
  news.setBegan({began.data(), began.size()});
  auto ended = untold_ended_.part();
  auto gone = news.initEnded(static_cast<unsigned>(ended.size()));
  for (unsigned i = 0; i < gone.size(); ++i) {
    gone[i].setRequest(ended[i].request);
    gone[i].setDecodedNs(static_cast<std::uint64_t>(ended[i].decoded.count()));
  }
}

void decode_state::show_holdings() {
  auto counts = ledger_.counts();
  probe_->holds({guests_.size(), guests_.count_at(stage::ready), line_.size(),
                 guests_.count_at(stage::parked), moves_.size(),
                 pool_.size() + lost_.size(), deadlines_.size(),
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
    case of_lost: lost_.on_timer(epoch); break;
    case of_pool: pool_.on_timer(epoch); break;
  }
  if (!touched_.empty() || news->getEpoch() % timers == of_retries)
    settle();
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
