#include "actors/decode_instance/decode_instance.hpp"

#include "actors/asker.hpp"
#include "actors/block_line.hpp"
#include "actors/cache_shard/block_ledger.hpp"
#include "actors/decode_instance/batch_plan.hpp"
#include "actors/decode_instance/guest.hpp"
#include "actors/decode_instance/tbt_model.hpp"
#include "actors/movements.hpp"
#include "actors/report_pace.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"
#include "schemas/convert.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <map>

namespace perigee::decode {
namespace {

using schema::End;

class decode_state {
public:
  using handle = decode_actor;
  static constexpr const char* name = "decode";

  decode_state(handle::pointer self, const rt::world& in, engine::arena_view arena,
               options how, std::shared_ptr<probe> counts)
    : self_(self), desk_(self, in, name), log_(in.log->clone(name)), how_(how),
      probe_(std::move(counts)), block_tokens_(arena.layout.block_tokens),
      blocks_total_(arena.blocks),
      ledger_(arena.blocks, shard::make_eviction_policy("lru")),
      tickets_(static_cast<std::uint64_t>(desk_.tag())), line_(how.waiting_max),
      moves_(desk_, tickets_), pace_(how.report_every),
      deadlines_(
        how.requests_max, [this](auto due, auto epoch) { wake_at(due, epoch, 0); },
        [this](auto request, char) { on_deadline(request); }),
      ended_(
        4 * how.requests_max, [this](auto due, auto epoch) { wake_at(due, epoch, 1); },
        [](auto, char) {}) {
    show_holdings();
  }

  handle::behavior_type make_behavior() {
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

private:
  // -- a request comes --------------------------------------------------------

  void on_expect(const Msg<schema::Expect>& news) {
    if (!is_current(news, conductor_name{how_.control, 0}))
      return;
    auto request = news->getRequest();
    if (ended_.find(request) || guests_.contains(request))
      return; // it overtook this
    auto* one = open_guest(request);
    if (!one)
      return; // a forecast less
    one->gateway = to_name<gateway_name>(news->getGateway());
    one->prefill = to_name<prefill_name>(news->getPrefill());
    one->why = news;
    keep_until(*one, news->getRemainingNs());
    settle();
  }

  void on_room(const Msg<schema::Room>& wish) {
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
    one->why = wish;
    one->prompt_tokens = wish->getPromptTokens();
    one->age = ++ages_;
    keep_until(*one, wish->getRemainingNs());
    // One token more than the prompt must find place, or nothing can be drawn.
    if (blocks_for(one->prompt_tokens + 1) > blocks_total_
        || !line_.join(request, blocks_for(one->prompt_tokens))) {
      tell_roomed(prefill, request, wish, [](auto said) { said.setBusy(); });
      one->now = stage::ending;
      return settle();
    }
    one->now = stage::lining;
    settle();
  }

  std::size_t blocks_for(std::size_t tokens) const {
    return (tokens + block_tokens_ - 1) / block_tokens_;
  }

  /// Null if there are as many as there may be.
  guest* open_guest(std::uint64_t request) {
    if (auto* known = find(request))
      return known;
    if (guests_.size() >= how_.requests_max)
      return nullptr;
    auto& made = guests_[request];
    made.request = request;
    made.owner = ++owners_;
    return &made;
  }

  void keep_until(const guest& one, std::uint64_t remaining_ns) {
    constexpr moment longest = std::chrono::hours{24};
    auto span = remaining_ns < static_cast<std::uint64_t>(longest.count())
                  ? moment{remaining_ns}
                  : longest;
    deadlines_.take(one.request);
    bool kept = deadlines_.put(one.request, desk_.now() + span, {});
    PERIGEE_ASSERT(kept, "as many deadlines as requests");
  }

  template <class Fill>
  void tell_roomed(const prefill_name& whom, std::uint64_t request,
                   const rt::cause& why, Fill fill) {
    desk_.tell<schema::Roomed>(whom, why, [&](schema::Roomed::Builder said) {
      said.setRequest(request);
      fill(said);
    });
  }

  /// Gives blocks to whose turn it is. Every sequence that decodes may need one soon.
  void give_rooms() {
    auto sequences = count_if([](const guest& one) { return one.now == stage::ready; });
    for (;;) {
      auto free = ledger_.counts().free;
      auto spare = free > sequences ? free - sequences : 0;
      auto next = line_.next(sequences > 0 ? spare : free);
      if (!next)
        return;
      give_room(guests_.at(*next));
    }
  }

  void give_room(guest& one) {
    take_blocks(one, blocks_for(one.prompt_tokens));
    one.now = stage::receiving;
    one.was_given = true;
    tell_roomed(one.prefill, one.request, one.why, [&](schema::Roomed::Builder said) {
      auto given = said.initGiven();
      given.setSegment(how_.segment);
      auto blocks = given.initBlocks(static_cast<unsigned>(one.blocks.size()));
      for (unsigned i = 0; i < blocks.size(); ++i)
        blocks.set(i, one.blocks[i]);
    });
  }

  /// There are as many.
  void take_blocks(guest& one, std::size_t blocks) {
    auto given = ledger_.reserve(shard::owner_id{one.owner}, blocks);
    PERIGEE_ASSERT(given.items.size() == blocks, "blocks that were counted as free");
    for (const auto& item : given.items)
      one.blocks.push_back(item.block);
  }

  void free_blocks(guest& one) {
    for (auto block : one.blocks) {
      auto freed = ledger_.free(block, shard::owner_id{one.owner});
      PERIGEE_ASSERT(freed, "a block that was its own");
    }
    one.blocks.clear();
  }

  // -- and is taken over ------------------------------------------------------

  void on_handoff(const Msg<schema::Handoff>& news) {
    auto prefill = to_name<prefill_name>(news->getPrefill());
    if (!is_current(news, prefill))
      return;
    auto* one = find(news->getRequest());
    if (!one || (one->now != stage::lining && one->now != stage::receiving)
        || one->is_accepted() || one->prefill != prefill)
      return tell_handed_off(prefill, news, [](auto said) { said.setGone(); });
    auto limit = news->getTbtLimitNs() != 0
                   ? moment{news->getTbtLimitNs()}
                   : std::chrono::duration_cast<moment>(how_.tbt_limit);
    auto predicted = predict_with(*one);
    if (predicted > limit)
      refuse(*one, news, static_cast<double>(predicted.count()) / limit.count());
    else
      accept(*one, news);
    settle();
  }

  /// How long a step will take with one more. Nobody else is here: that is no news.
  moment predict_with(const guest& newcomer) const {
    step_load load{1, newcomer.prompt_tokens + 1};
    for (const auto& [request, one] : guests_)
      if (one.is_accepted() && one.now != stage::ending) {
        ++load.sequences;
        load.kv_tokens += one.answer->kv_tokens() + 1;
      }
    return load.sequences == 1 ? moment{} : tbt_.predict(load);
  }

  void refuse(guest& one, const Msg<schema::Handoff>& news, double load) {
    probe_->refused();
    tell_handed_off(one.prefill, news, [&](schema::HandedOff::Builder said) {
      auto refusal = said.initRefused();
      refusal.setWhy(schema::Refusal::Reason::DECODE_LOAD);
      refusal.setLoad(load);
      refusal.setRetryAfterNs(
        static_cast<std::uint64_t>(moment{std::chrono::seconds{1}}.count()));
    });
    end(one, End::NONE);
  }

  void accept(guest& one, const Msg<schema::Handoff>& news) {
    probe_->accepted();
    one.handoff = news;
    one.why = news;
    one.accepted_at = desk_.now();
    sequence::prompt before{news->getPromptTokens(),
                            {},
                            {news->getParent().getHigh(), news->getParent().getLow()}};
    for (auto token : news->getTail())
      before.tail.push_back(token);
    one.answer.emplace(std::move(before), news->getFirst().getToken(),
                       news->getTokensMax(), block_tokens_);
    keep_until(one, news->getRemainingNs());
    reported_began_.push_back(one.request);
    tell_handed_off(one.prefill, news, [](auto said) { said.setAccepted(); });
    tell_first(one);
  }

  template <class Fill>
  void tell_handed_off(const prefill_name& whom, const Msg<schema::Handoff>& news,
                       Fill fill) {
    desk_.tell<schema::HandedOff>(whom, news, [&](schema::HandedOff::Builder said) {
      said.setRequest(news->getRequest());
      fill(said);
    });
  }

  void tell_first(const guest& one) {
    desk_.tell<schema::Tokens>(one.gateway, one.why, [&](schema::Tokens::Builder news) {
      auto run = news.initRuns(1)[0];
      run.setRequest(one.request);
      run.initTokens(1).setWithCaveats(0, (*one.handoff)->getFirst());
      run.setCachedTokens((*one.handoff)->getCachedTokens());
      run.setStages((*one.handoff)->getStages());
    });
  }

  void on_landed(const Msg<schema::Landed>& news) {
    auto* one = find(news->getRequest());
    if (!one || one->landed || one->now == stage::ready)
      return probe_->dropped_stale();
    if (!is_current(news, one->prefill))
      return;
    one->landed = true;
    if (one->now == stage::receiving && one->is_accepted() && news->getOk())
      begin(*one);
    else if (one->now != stage::ending)
      end(*one, one->is_accepted() ? End::TRANSFER_FAILED : End::NONE);
    settle();
  }

  void begin(guest& one) {
    one.now = stage::ready;
    one.landed_at = desk_.now();
    interrupt(); // the next batch is another
  }

  // -- steps ------------------------------------------------------------------

  /// False if some have ended by that.
  bool pump() {
    if (forward_ticket_ != 0)
      return true;
    auto plan = plan_next();
    if (plan.run.empty() && sequences_ended_.empty())
      return true;
    for (auto request : plan.run)
      grow(guests_.at(request), plan.steps);
    bool there = desk_.tell<schema::Forward>(
      engine(), rt::unprompted,
      [&](schema::Forward::Builder wish) { write_forward(wish, plan); });
    sequences_ended_.clear();
    if (!there) { // and soon we aren't either: an engine and its owner are one
      fail_run(plan.run);
      return plan.run.empty();
    }
    forward_ticket_ = tickets_;
    in_run_ = plan.run;
    interrupted_ = false;
    steps_asked_ = plan.steps;
    return true;
  }

  engine_name engine() const {
    return {desk_.me().node, how_.engine};
  }

  batch plan_next() const {
    std::vector<const guest*> in_arena;
    for (const auto& [request, one] : guests_)
      if (one.now == stage::ready)
        in_arena.push_back(&one);
    std::sort(in_arena.begin(), in_arena.end(),
              [](auto* a, auto* b) { return a->age < b->age; });
    std::vector<candidate> all;
    for (auto* one : in_arena)
      all.push_back({one->request, one->answer->kv_tokens(), one->answer->steps_left(),
                     static_cast<std::uint32_t>(one->blocks.size())});
    return plan_batch(
      all, {block_tokens_, how_.batch_max, how_.steps_max, ledger_.counts().free, 0});
  }

  void grow(guest& one, std::uint32_t steps) {
    candidate as{one.request, one.answer->kv_tokens(), one.answer->steps_left(),
                 static_cast<std::uint32_t>(one.blocks.size())};
    take_blocks(one, blocks_lacking(as, steps, block_tokens_));
    if (one.began_at == moment{})
      one.began_at = desk_.now();
    one.in_run = true;
  }

  void write_forward(schema::Forward::Builder wish, const batch& plan) {
    set_asker(wish.initOwner(), desk_.me());
    wish.setTicket(++tickets_);
    wish.setStepsMax(std::max(plan.steps, 1u));
    auto ends = wish.initEnds(static_cast<unsigned>(sequences_ended_.size()));
    for (unsigned i = 0; i < ends.size(); ++i)
      ends.set(i, sequences_ended_[i]);
    std::vector<guest*> begun;
    auto work = wish.initWork(static_cast<unsigned>(plan.run.size()));
    for (unsigned i = 0; i < work.size(); ++i) {
      auto& one = guests_.at(plan.run[i]);
      if (!one.has_sequence)
        begun.push_back(&one);
      write_work(work[i], one, plan.steps);
    }
    auto begins = wish.initBegins(static_cast<unsigned>(begun.size()));
    for (unsigned i = 0; i < begins.size(); ++i)
      write_begin(begins[i], *begun[i]);
  }

  static void write_begin(schema::Forward::Begin::Builder begin, guest& one) {
    const auto& news = **one.handoff;
    one.has_sequence = true;
    begin.setSequence(one.owner);
    begin.setSampling(news.getSampling());
    begin.setSeen(news.getSeen());
    const auto& answer = one.answer->answer();
    auto answered = begin.initAnswered(static_cast<unsigned>(answer.size()));
    for (unsigned i = 0; i < answered.size(); ++i)
      answered.set(i, answer[i]);
  }

  static void write_work(schema::Forward::Work::Builder work, guest& one,
                         std::uint32_t steps) {
    work.setSequence(one.owner);
    work.setFirstPosition(one.answer->next_position());
    work.initTokens(1).set(0, one.answer->next_token());
    work.setFirstBlock(one.blocks_told);
    auto blocks
      = work.initBlocks(static_cast<unsigned>(one.blocks.size() - one.blocks_told));
    for (unsigned i = 0; i < blocks.size(); ++i)
      blocks.set(i, one.blocks[one.blocks_told + i]);
    one.blocks_told = static_cast<std::uint32_t>(one.blocks.size());
    work.setSteps(std::min(steps, one.answer->steps_left()));
  }

  /// What is to run next is another batch.
  void interrupt() {
    if (forward_ticket_ == 0 || steps_asked_ <= 1 || std::exchange(interrupted_, true))
      return;
    probe_->interrupted();
    desk_.tell<schema::Interrupt>(engine(), rt::unprompted,
                                  [&](auto wish) { wish.setTicket(forward_ticket_); });
  }

  void on_forwarded(const Msg<schema::Forwarded>& said) {
    if (!is_current(said, engine()))
      return;
    auto result = said->getResult();
    if (result.getTicket() != forward_ticket_)
      return probe_->dropped_stale();
    forward_ticket_ = 0;
    auto run = std::exchange(in_run_, {});
    if (result.getFault() != schema::EngineFault::NONE) {
      log_->warn("forward_failed fault={}", static_cast<int>(result.getFault()));
      fail_run(run);
    } else {
      take_run(run, result);
    }
    settle();
  }

  void fail_run(const std::vector<std::uint64_t>& run) {
    for (auto request : run) {
      auto& one = guests_.at(request);
      one.in_run = false;
      if (one.now != stage::ending)
        end(one, End::ENGINE_FAILED);
    }
  }

  /// What a run gave one request.
  struct gift {
    std::vector<schema::Drawn::Reader> tokens;
    std::optional<std::uint32_t> stop;
  };

  void take_run(const std::vector<std::uint64_t>& run,
                schema::RunResult::Reader result) {
    std::map<std::uint64_t, guest*> by_owner;
    std::size_t kv_tokens = 0;
    for (auto request : run) {
      auto& one = guests_.at(request);
      one.in_run = false;
      by_owner.emplace(one.owner, &one);
      kv_tokens += one.answer->kv_tokens() + 1;
    }
    std::map<std::uint64_t, gift> gifts; // by request
    for (auto step : result.getSteps()) {
      auto drawn = step.getDrawn();
      tbt_.observe({drawn.size(), kv_tokens}, moment{step.getDurationNs()});
      probe_->stepped(drawn.size());
      kv_tokens += drawn.size();
      for (auto one : drawn)
        take_draw(*by_owner.at(one.getSequence()), one, gifts);
    }
    pass_on(gifts);
  }

  void take_draw(guest& one, schema::RunResult::One::Reader drawn,
                 std::map<std::uint64_t, gift>& gifts) {
    if (one.now == stage::ending)
      return;
    auto& got = gifts[one.request];
    if (drawn.getStopped()) {
      got.stop = drawn.getDrawn().getToken();
    } else {
      one.answer->append(drawn.getDrawn().getToken());
      got.tokens.push_back(drawn.getDrawn());
    }
  }

  /// One message to each gateway.
  void pass_on(const std::map<std::uint64_t, gift>& gifts) {
    std::map<gateway_name, std::vector<std::uint64_t>> by_gateway;
    for (const auto& [request, got] : gifts)
      by_gateway[guests_.at(request).gateway].push_back(request);
    for (const auto& [gateway, requests] : by_gateway)
      desk_.tell<schema::Tokens>(
        gateway, rt::unprompted, [&](schema::Tokens::Builder news) {
          auto runs = news.initRuns(static_cast<unsigned>(requests.size()));
          for (unsigned i = 0; i < runs.size(); ++i)
            write_gift(runs[i], guests_.at(requests[i]), gifts.at(requests[i]));
        });
    for (const auto& [request, got] : gifts) {
      auto& one = guests_.at(request);
      if (got.stop || one.answer->steps_left() == 0) {
        probe_->finished();
        end(one, End::NONE);
      }
    }
  }

  void write_gift(schema::Tokens::Run::Builder run, const guest& one,
                  const gift& got) const {
    run.setRequest(one.request);
    auto tokens = run.initTokens(static_cast<unsigned>(got.tokens.size()));
    for (unsigned i = 0; i < tokens.size(); ++i)
      tokens.setWithCaveats(i, got.tokens[i]);
    if (got.stop) {
      run.setStopToken(*got.stop);
      write_end(run, one, End::STOP);
    } else if (one.answer->steps_left() == 0) {
      write_end(run, one, End::LENGTH);
    }
  }

  void write_end(schema::Tokens::Run::Builder run, const guest& one, End how) const {
    run.setEnd(how);
    if (!one.is_accepted())
      return;
    run.setCachedTokens((*one.handoff)->getCachedTokens());
    run.setStages((*one.handoff)->getStages());
    one.write_stages(run.getStages(), desk_.now());
  }

  // -- its end ----------------------------------------------------------------

  /// Tells the gateway, unless it is `NONE`: then it knows already, or somebody else
  /// will tell it. What is under way is stopped, and the rest follows when that has
  /// ended.
  void end(guest& one, End how) {
    if (one.now == stage::ending)
      return;
    if (how != End::NONE) {
      probe_->failed();
      desk_.tell<schema::Tokens>(one.gateway, one.why, [&](auto news) {
        auto run = news.initRuns(1)[0];
        run.setRequest(one.request);
        write_end(run, one, how);
      });
    }
    one.now = stage::ending;
    deadlines_.take(one.request);
    line_.leave(one.request);
    if (one.in_run)
      interrupt();
    reported_ended_.push_back(
      {one.request, one.is_accepted() ? desk_.now() - one.accepted_at : moment{}});
  }

  void close_if_quiet(guest& one) {
    if (one.now == stage::ending && !one.in_run && !one.is_being_written())
      closing_.push_back(one.request);
  }

  void close(guest& one) {
    free_blocks(one);
    if (one.has_sequence)
      sequences_ended_.push_back(one.owner);
    if (one.has_cancel)
      tell_cancelled(one.gateway, one.request, one.why);
    remember(one.request);
    deadlines_.take(one.request);
    guests_.erase(one.request);
  }

  void remember(std::uint64_t request) {
    if (!ended_.find(request)
        && !ended_.put(request, desk_.now() + how_.memory_limit, {}))
      log_->debug("memory_full");
  }

  /// What follows from whatever has just happened. At the end of every handler.
  void settle() {
    do {
      for (auto& [request, one] : guests_)
        close_if_quiet(one);
      for (auto request : std::exchange(closing_, {}))
        close(guests_.at(request));
      give_rooms();
    } while (!pump());
    changed();
  }

  void on_deadline(std::uint64_t request) {
    auto* one = find(request);
    if (!one)
      return;
    end(*one, one->is_accepted() ? End::DEADLINE : End::NONE);
    settle();
  }

  void on_cancel(const Msg<schema::Cancel>& wish) {
    auto gateway = to_name<gateway_name>(wish->getGateway());
    if (!is_current(wish, gateway))
      return;
    auto* one = find(wish->getRequest());
    if (!one || one->gateway != gateway) {
      remember(wish->getRequest());
      tell_cancelled(gateway, wish->getRequest(), wish);
    } else {
      probe_->cancelled();
      one->has_cancel = true;
      end(*one, End::NONE);
    }
    settle();
  }

  void tell_cancelled(const gateway_name& whom, std::uint64_t request,
                      const rt::cause& why) {
    desk_.tell<schema::Cancelled>(whom, why, [&](schema::Cancelled::Builder news) {
      news.setRequest(request);
      news.setBy(schema::Role::DECODE);
    });
  }

  // -- who is there -----------------------------------------------------------

  void on_reserved(const Msg<schema::Reserved>&) {}
  void on_quiesced(const Msg<schema::Quiesced>&) {}

  void on_moved(const Msg<schema::Moved>& said) {
    if (!moves_.took(said))
      return probe_->dropped_stale();
    settle();
  }

  void on_member(const Msg<schema::Member>& news) {
    if (!is_current(news, cluster_name{desk_.me().node, 0}))
      return;
    settle();
  }

  // -- reports, and time ------------------------------------------------------

  void changed() {
    show_holdings();
    if (pace_.changed(desk_.now()))
      return report();
    if (auto due = pace_.take_tick())
      desk_.tell_after<schema::Tick>(handle{self_}, *due - desk_.now(), rt::unprompted,
                                     [](auto) {});
  }

  void on_tick(const Msg<schema::Tick>&) {
    pace_.ticked(desk_.now());
    report();
  }

  void report() {
    constexpr std::size_t listed_max = 4096; // of one report
    auto began = std::min(reported_began_.size(), listed_max);
    auto ended = std::min(reported_ended_.size(), listed_max);
    bool there = desk_.tell<schema::DecodeLoad>(
      conductor_name{how_.control, 0}, rt::unprompted,
      [&](schema::DecodeLoad::Builder news) {
        set_name(news.initWho(), desk_.me());
        write_load(news);
        auto begun = news.initBegan(static_cast<unsigned>(began));
        for (unsigned i = 0; i < begun.size(); ++i)
          begun.set(i, reported_began_[i]);
        auto gone = news.initEnded(static_cast<unsigned>(ended));
        for (unsigned i = 0; i < gone.size(); ++i) {
          gone[i].setRequest(reported_ended_[i].first);
          gone[i].setDecodedNs(
            static_cast<std::uint64_t>(reported_ended_[i].second.count()));
        }
      });
    forget(reported_began_, there ? began : reported_began_.size());
    forget(reported_ended_, there ? ended : reported_ended_.size());
  }

  template <class List>
  static void forget(List& list, std::size_t first) {
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(first));
  }

  void write_load(schema::DecodeLoad::Builder news) const {
    std::uint32_t sequences = 0, waiting = 0;
    std::uint64_t kv_tokens = 0;
    for (const auto& [request, one] : guests_) {
      if (!one.is_accepted() || one.now == stage::ending)
        continue;
      one.began_at != moment{} && one.now == stage::ready ? ++sequences : ++waiting;
      kv_tokens += one.answer->kv_tokens();
    }
    news.setSequences(sequences);
    news.setWaiting(waiting);
    news.setKvTokens(kv_tokens);
    news.setBlocksFree(static_cast<std::uint32_t>(ledger_.counts().free));
    news.setStepNs(static_cast<std::uint64_t>(tbt_.recent().count()));
  }

  template <class Is>
  std::size_t count_if(Is is) const {
    std::size_t count = 0;
    for (const auto& [request, one] : guests_)
      count += is(one);
    return count;
  }

  void show_holdings() {
    auto counts = ledger_.counts();
    auto at = [this](stage now) {
      return count_if([=](const guest& one) { return one.now == now; });
    };
    probe_->holds({guests_.size(), at(stage::ready), line_.size(), at(stage::parked),
                   moves_.size(), 0, deadlines_.size(), blocks_total_ - counts.free,
                   counts.free});
  }

  void wake_at(moment due, std::uint64_t epoch, std::uint64_t table) {
    desk_.tell_after<schema::Due>(
      handle{self_}, due - desk_.now(), rt::unprompted,
      [&](auto timer) { timer.setEpoch(epoch * 4 + table); });
  }

  void on_due(const Msg<schema::Due>& timer) {
    auto epoch = timer->getEpoch() / 4;
    switch (timer->getEpoch() % 4) {
      case 0: return deadlines_.on_timer(epoch, desk_.now());
      case 1: return ended_.on_timer(epoch, desk_.now());
    }
  }

  guest* find(std::uint64_t request) {
    auto at = guests_.find(request);
    return at == guests_.end() ? nullptr : &at->second;
  }

  /// Whether `heard` is from whoever is under `whom` now, in whose name it speaks.
  template <class T, class Handle>
  bool is_current(const Msg<T>& heard, const rt::name<Handle>& whom) {
    bool current = desk_.is_from(whom, heard);
    if (!current)
      probe_->dropped_stale();
    return current;
  }

  handle::pointer self_;
  rt::desk<handle> desk_;
  std::shared_ptr<spdlog::logger> log_;
  options how_;
  std::shared_ptr<probe> probe_;
  std::uint32_t block_tokens_;
  std::size_t blocks_total_;
  shard::block_ledger ledger_;
  std::uint64_t tickets_; // begin where no other incarnation's do
  std::uint64_t owners_ = 0;
  std::uint64_t ages_ = 0;
  block_line line_;
  movements<handle> moves_;
  report_pace pace_;
  tbt_model tbt_;
  rt::pending_table<std::uint64_t, char> deadlines_; // by request
  rt::pending_table<std::uint64_t, char> ended_;     // requests that are no more

  std::map<std::uint64_t, guest> guests_;
  std::vector<std::uint64_t> closing_;
  std::uint64_t forward_ticket_ = 0; // of the Forward that is open
  std::vector<std::uint64_t> in_run_;
  std::uint32_t steps_asked_ = 0;
  bool interrupted_ = false;
  std::vector<std::uint64_t> sequences_ended_;
  std::vector<std::uint64_t> reported_began_;
  std::vector<std::pair<std::uint64_t, moment>> reported_ended_;
};

} // namespace

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
