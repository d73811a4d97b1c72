#include "actors/prefill_group/prefill_group.hpp"

#include "actors/block_line.hpp"
#include "actors/cache_shard/block_ledger.hpp"
#include "actors/movements.hpp"
#include "actors/prefill_group/job.hpp"
#include "actors/prefill_group/prefill_queue.hpp"
#include "actors/report_pace.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"
#include "schemas/convert.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <map>

namespace perigee::prefill {
namespace {

using schema::End;

/// Tokens of one Forward that may be scored: their scores fill a message.
constexpr std::uint32_t scored_share_max = 4096;

class prefill_state {
public:
  using handle = prefill_actor;
  static constexpr const char* name = "prefill";

  prefill_state(handle::pointer self, const rt::world& in, engine::arena_view arena,
                std::shared_ptr<transport::gate_board> gates, options how,
                std::shared_ptr<probe> counts)
    : self_(self), desk_(self, in, name), log_(in.log->clone(name)), how_(how),
      probe_(std::move(counts)), gates_(std::move(gates)),
      block_tokens_(arena.layout.block_tokens), blocks_total_(arena.blocks),
      ledger_(arena.blocks, shard::make_eviction_policy("lru")),
      tickets_(static_cast<std::uint64_t>(desk_.tag())), line_(how.waiting_max),
      queue_(how.chunk_tokens), moves_(desk_, tickets_), pace_(how.report_every),
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

private:
  // -- a request comes --------------------------------------------------------

  void on_prefill(const Msg<schema::Prefill>& plan) {
    auto request = plan->getRequest();
    if (!is_current(plan, conductor_name{how_.control, 0}))
      return;
    if (ended_.find(request))
      return probe_->dropped_stale(); // cancelled before it was here
    auto* one = open_job(request);
    if (!one)
      return refuse(plan, End::BUSY);
    if (one->plan)
      return probe_->dropped_stale();
    one->plan = plan;
    one->times.arrived = desk_.now();
    keep_until(*one, std::chrono::nanoseconds{plan->getRemainingNs()});
    if (!is_sound(*plan)) {
      log_->warn("bad_plan request={}", request);
      return end(*one, End::ENGINE_FAILED);
    }
    try_to_join(*one);
    settle();
  }

  /// Whether the chain is that of the prompt, and says what is reused.
  bool is_sound(schema::Prefill::Reader plan) const {
    auto keys = plan.getChain().getKeys().size();
    auto tokens = plan.getPromptTokens();
    return tokens > 0 && plan.getTokensMax() > 0
           && (keys == 0 || plan.getChain().getBlockTokens() == block_tokens_)
           && (keys == 0 || keys == tokens / block_tokens_)
           && plan.getReuseBlocks() <= keys
           && std::uint64_t{plan.getReuseBlocks()} * block_tokens_ < tokens;
  }

  void on_prompt(const Msg<schema::Prompt>& part) {
    auto request = part->getRequest();
    auto* one = ended_.find(request) ? nullptr : open_job(request);
    if (!one || one->now != stage::joining)
      return probe_->dropped_stale();
    if (!one->plan && !one->prompt.has_begun())
      keep_until(*one, how_.join_limit);
    if (!one->prompt.add(part)) {
      log_->warn("bad_prompt request={}", request);
      return give_up(*one, End::ENGINE_FAILED);
    }
    try_to_join(*one);
    settle();
  }

  /// Null if there are as many as there may be.
  job* open_job(std::uint64_t request) {
    auto known = jobs_.find(request);
    if (known != jobs_.end())
      return &known->second;
    if (jobs_.size() >= how_.requests_max)
      return nullptr;
    auto& made = jobs_[request];
    made.request = request;
    return &made;
  }

  void keep_until(job& one, moment span) {
    deadlines_.take(one.request);
    one.deadline = desk_.now() + std::min<moment>(span, std::chrono::hours{24});
    bool kept = deadlines_.put(one.request, one.deadline, {});
    PERIGEE_ASSERT(kept, "as many deadlines as requests");
  }

  void try_to_join(job& one) {
    if (!one.plan || !one.prompt.is_whole())
      return;
    auto gateway = to_name<gateway_name>((*one.plan)->getGateway());
    if (!is_current(one.prompt.last(), gateway))
      return end(one, End::NONE);
    if (one.prompt.tokens().size() != one.prompt_tokens()) {
      log_->warn("bad_prompt request={}", one.request);
      return end(one, End::ENGINE_FAILED);
    }
    one.now = stage::waiting;
    if (!line_.join(one.request, blocks_for(one)) || blocks_for(one) > blocks_total_)
      return end(one, End::BUSY);
    changed();
  }

  std::size_t blocks_for(const job& one) const {
    return (one.prompt_tokens() + block_tokens_ - 1) / block_tokens_;
  }

  /// Gives blocks to whose turn it is.
  void admit() {
    while (auto next = line_.next(ledger_.counts().free)) {
      auto& one = jobs_.at(*next);
      one.owner = ++owners_;
      auto given = ledger_.reserve(shard::owner_id{one.owner}, blocks_for(one));
      for (const auto& item : given.items)
        one.blocks.push_back(item.block);
      PERIGEE_ASSERT(one.blocks.size() == blocks_for(one),
                     "as many blocks as the line was told are free");
      compute(one);
    }
  }

  // -- and is computed --------------------------------------------------------

  void compute(job& one) {
    one.now = stage::computing;
    auto share_max = one.prompt.last()->getPromptLogprobs() >= 0
                       ? scored_share_max
                       : std::numeric_limits<std::uint32_t>::max();
    queue_.add(one.request, one.prompt_tokens() - one.computed, share_max);
  }

  void pump() {
    if (forward_ticket_ != 0)
      return;
    auto chunk = queue_.next_chunk();
    if (chunk.empty() && sequences_ended_.empty())
      return;
    auto gate = open_gate(chunk);
    for (const auto& part : chunk)
      begin_share(jobs_.at(part.request), part.tokens, gate);
    bool there = desk_.tell<schema::Forward>(
      engine(), cause_of(chunk),
      [&](schema::Forward::Builder wish) { write_forward(wish, chunk); });
    sequences_ended_.clear();
    if (!there)
      return fail_chunk(chunk); // and soon so do we: an engine and its owner are one
    forward_ticket_ = tickets_;
    in_forward_ = chunk;
    for (const auto& part : chunk)
      push_ready(jobs_.at(part.request));
  }

  engine_name engine() const {
    return {desk_.me().node, how_.engine};
  }

  /// A chunk of several requests is caused by none of them.
  rt::cause cause_of(const std::vector<share>& chunk) const {
    return chunk.size() == 1 ? rt::cause{*jobs_.at(chunk.front().request).plan}
                             : rt::unprompted;
  }

  /// Null if there is no place for one: then blocks are pushed when they are whole.
  std::shared_ptr<transport::owned_gate> open_gate(const std::vector<share>& chunk) {
    if (chunk.empty())
      return nullptr;
    auto gate = std::make_shared<transport::owned_gate>(
      gates_->open(transport::gate_id{++tickets_}));
    return *gate ? gate : nullptr;
  }

  void begin_share(job& one, std::uint32_t tokens,
                   const std::shared_ptr<transport::owned_gate>& gate) {
    if (one.times.compute_began == moment{})
      one.times.compute_began = desk_.now();
    one.in_forward = true;
    one.flying = tokens;
    one.gate = gate;
    if (!one.asked_room && !one.has_one_token_answer())
      ask_room(one);
  }

  void ask_room(job& one) {
    one.asked_room = desk_.tell<schema::Room>(
      decode_of(one), *one.plan, [&](schema::Room::Builder wish) {
        wish.setRequest(one.request);
        set_name(wish.initPrefill(), desk_.me());
        wish.setGateway((*one.plan)->getGateway());
        wish.setPromptTokens(one.prompt_tokens());
        wish.setRemainingNs(remaining(one));
      });
  }

  std::uint64_t remaining(const job& one) const {
    return static_cast<std::uint64_t>(
      std::max(one.deadline - desk_.now(), moment{1}).count());
  }

  static decode_name decode_of(const job& one) {
    return to_name<decode_name>((*one.plan)->getDecode());
  }

  void write_forward(schema::Forward::Builder wish, const std::vector<share>& chunk) {
    set_asker(wish.initOwner(), desk_.me());
    wish.setTicket(++tickets_);
    auto ends = wish.initEnds(static_cast<unsigned>(sequences_ended_.size()));
    for (unsigned i = 0; i < ends.size(); ++i)
      ends.set(i, sequences_ended_[i]);
    std::vector<job*> parts, begun;
    for (const auto& part : chunk)
      parts.push_back(&jobs_.at(part.request));
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(begun),
                 [](const job* one) { return !one->has_sequence; });
    auto begins = wish.initBegins(static_cast<unsigned>(begun.size()));
    auto work = wish.initWork(static_cast<unsigned>(parts.size()));
    for (unsigned i = 0; i < work.size(); ++i)
      write_work(work[i], *parts[i]);
    for (unsigned i = 0; i < begins.size(); ++i)
      write_begin(begins[i], *begun[i]);
  }

  void write_begin(schema::Forward::Begin::Builder begin, job& one) {
    one.has_sequence = true;
    begin.setSequence(one.owner);
    begin.setSampling(one.prompt.last()->getSampling());
    write_seen(one, [&](unsigned n) { return begin.initSeen(n); });
  }

  /// The prompt's distinct tokens, where the penalty needs them.
  template <class Init>
  static void write_seen(const job& one, Init init) {
    if (one.prompt.last()->getSampling().getRepetitionPenalty() == 1)
      return;
    auto seen = one.prompt.tokens();
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    auto list = init(static_cast<unsigned>(seen.size()));
    for (unsigned i = 0; i < list.size(); ++i)
      list.set(i, seen[i]);
  }

  void write_work(schema::Forward::Work::Builder work, const job& one) {
    work.setSequence(one.owner);
    work.setFirstPosition(one.computed);
    auto tokens = work.initTokens(one.flying);
    for (unsigned i = 0; i < tokens.size(); ++i)
      tokens.set(i, one.prompt.tokens()[one.computed + i]);
    if (!one.has_sequence) {
      auto blocks = work.initBlocks(static_cast<unsigned>(one.blocks.size()));
      for (unsigned i = 0; i < blocks.size(); ++i)
        blocks.set(i, one.blocks[i]);
    }
    work.setSteps(one.computed + one.flying == one.prompt_tokens() ? 1 : 0);
    work.setScores(one.prompt.last()->getPromptLogprobs());
    if (one.gate)
      work.setOpenGate(static_cast<std::uint64_t>(one.gate->id()));
  }

  void on_forwarded(const Msg<schema::Forwarded>& said) {
    auto result = said->getResult();
    if (!is_current(said, engine()))
      return;
    if (result.getTicket() != forward_ticket_)
      return probe_->dropped_stale();
    forward_ticket_ = 0;
    auto chunk = std::exchange(in_forward_, {});
    if (result.getFault() != schema::EngineFault::NONE) {
      log_->warn("forward_failed fault={}", static_cast<int>(result.getFault()));
      fail_chunk(chunk);
    } else {
      for (const auto& part : chunk)
        take_share(jobs_.at(part.request), result);
    }
    settle();
  }

  void take_share(job& one, schema::RunResult::Reader result) {
    one.in_forward = false;
    one.computed += std::exchange(one.flying, 0);
    probe_->computed(one.computed);
    if (one.now == stage::ending)
      return close_if_quiet(one);
    push_ready(one);
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

  void fail_chunk(const std::vector<share>& chunk) {
    for (const auto& part : chunk) {
      auto& one = jobs_.at(part.request);
      one.in_forward = false;
      one.flying = 0;
      one.gate.reset();
      one.now == stage::ending ? close_if_quiet(one) : end(one, End::ENGINE_FAILED);
    }
  }

  void tell_scores(const job& one, schema::RunResult::Scores::Reader scores) {
    desk_.tell<schema::PromptScores>(gateway_of(one), *one.plan,
                                     [&](schema::PromptScores::Builder news) {
                                       news.setRequest(one.request);
                                       news.setFirstToken(scores.getFirstPosition());
                                       news.setScores(scores.getScores());
                                     });
  }

  // -- its KV goes to the decode instance -------------------------------------

  void on_roomed(const Msg<schema::Roomed>& said) {
    auto* one = find(said->getRequest());
    if (!one || !one->asked_room || one->now == stage::ending)
      return probe_->dropped_stale();
    if (!is_current(said, decode_of(*one)))
      return;
    if (said->isGiven())
      give_room(*one, said->getGiven());
    else
      end(*one, said->isBusy() ? End::BUSY : End::DEADLINE);
    settle();
  }

  void give_room(job& one, schema::Roomed::Given::Reader room) {
    if (room.getBlocks().size() != one.blocks.size() || one.to_decode.is_open()) {
      log_->warn("bad_room request={}", one.request);
      return end(one, End::TRANSFER_FAILED);
    }
    one.to_decode.segment = room.getSegment();
    for (auto block : room.getBlocks())
      one.to_decode.targets.push_back(block);
    push_ready(one);
  }

  /// Sends on what can be: what is computed, and, behind the gate, what is about to be.
  void push_ready(job& one) {
    if (one.now == stage::ending || one.to_decode.failed)
      return;
    auto whole = one.blocks_of(one.computed, block_tokens_);
    auto ready
      = one.gate ? one.blocks_of(one.computed + one.flying, block_tokens_) : whole;
    auto some = one.to_decode.take(ready);
    push(one, {some.first, std::min(some.end, whole)}, nullptr);
    push(one, {std::max(some.first, whole), some.end}, one.gate);
    if (one.flying == 0)
      one.gate.reset(); // whoever waits there has it
  }

  void push(job& one, block_range some,
            const std::shared_ptr<transport::owned_gate>& gate) {
    if (some.empty() || one.to_decode.failed)
      return;
    move_order what;
    what.from = how_.segment;
    what.to = one.to_decode.segment;
    what.sources.assign(one.blocks.begin() + some.first, one.blocks.begin() + some.end);
    what.targets.assign(one.to_decode.targets.begin() + some.first,
                        one.to_decode.targets.begin() + some.end);
    what.await_gate = gate ? static_cast<std::uint64_t>(gate->id()) : 0;
    what.priority = schema::Priority::NEXT_TOKEN;
    what.limit = how_.move_limit;
    auto told = [this, request = one.request, gate](auto ticket, auto fault) {
      on_pushed(jobs_.at(request), ticket, fault);
    };
    auto ticket = moves_.push(*one.plan, what, told);
    if (ticket == 0)
      one.to_decode.failed = true;
    else
      one.to_decode.moves.insert(ticket);
  }

  void on_pushed(job& one, std::uint64_t ticket, schema::MoveFault fault) {
    one.to_decode.moves.erase(ticket);
    if (fault != schema::MoveFault::NONE)
      one.to_decode.failed = true;
  }

  void on_moved(const Msg<schema::Moved>& said) {
    if (!moves_.took(said))
      return probe_->dropped_stale();
    settle();
  }

  void hand_over(job& one, schema::RunResult::One::Reader first) {
    one.now = stage::handing_off;
    if (first.getStopped() || one.has_one_token_answer()) {
      probe_->answered();
      tell_end(one, first.getStopped() ? End::STOP : End::LENGTH, [&](auto run) {
        if (first.getStopped())
          run.setStopToken(first.getDrawn().getToken());
        else
          run.initTokens(1).setWithCaveats(0, first.getDrawn());
      });
      return end(one, End::NONE);
    }
    keep_until(one, one.deadline - desk_.now() + how_.handoff_grace);
    bool there = desk_.tell<schema::Handoff>(
      decode_of(one), *one.plan, [&](schema::Handoff::Builder news) {
        write_handoff(news, one, first.getDrawn());
      });
    if (!there)
      end(one, End::ACTOR_LOST);
  }

  void write_handoff(schema::Handoff::Builder news, const job& one,
                     schema::Drawn::Reader first) {
    auto plan = **one.plan;
    auto keys = plan.getChain().getKeys();
    news.setRequest(one.request);
    set_name(news.initPrefill(), desk_.me());
    news.setGateway(plan.getGateway());
    news.setPromptTokens(one.prompt_tokens());
    news.setCachedTokens(0);
    news.setFirst(first);
    auto full = one.prompt_tokens() / block_tokens_;
    auto tail = news.initTail(one.prompt_tokens() - full * block_tokens_);
    for (unsigned i = 0; i < tail.size(); ++i)
      tail.set(i, one.prompt.tokens()[full * block_tokens_ + i]);
    news.setParent(keys.size() > 0 ? keys[keys.size() - 1] : plan.getChain().getRoot());
    news.setDepth(full);
    news.setSampling(one.prompt.last()->getSampling());
    write_seen(one, [&](unsigned n) { return news.initSeen(n); });
    news.setTokensMax(plan.getTokensMax());
    news.setRemainingNs(remaining(one));
    news.setTbtLimitNs(plan.getTbtLimitNs());
    news.setStages(plan.getStages());
    one.times.write(news.getStages(), desk_.now());
  }

  void on_handed_off(const Msg<schema::HandedOff>& said) {
    auto* one = find(said->getRequest());
    if (!one || one->now != stage::handing_off)
      return probe_->dropped_stale();
    if (!is_current(said, decode_of(*one)))
      return;
    switch (said->which()) {
      case schema::HandedOff::ACCEPTED:
        one->now = stage::handed_off;
        deadlines_.take(one->request);
        report_end(*one);
        probe_->handed_off();
        land_if_done(*one);
        break;
      case schema::HandedOff::REFUSED:
        tell_end(*one, End::REFUSED,
                 [&](auto run) { run.setRefusal(said->getRefused()); });
        end(*one, End::NONE);
        break;
      case schema::HandedOff::GONE: end(*one, End::DEADLINE); break;
    }
    settle();
  }

  /// The decode instance may read its blocks; or, if it can't, they are its own again.
  void land(job& one, bool ok) {
    one.landed = true;
    desk_.tell<schema::Landed>(decode_of(one), *one.plan,
                               [&](schema::Landed::Builder news) {
                                 news.setRequest(one.request);
                                 news.setOk(ok);
                               });
  }

  void land_if_done(job& one) {
    if (!one.to_decode.is_done())
      return;
    land(one, true);
    end(one, End::NONE);
  }

  // -- its end ----------------------------------------------------------------

  /// Tells the gateway, unless it is `NONE`: then it knows already, or somebody else
  /// will tell it. What is under way is stopped, and the rest follows when that has
  /// ended.
  void end(job& one, End how) {
    if (one.now == stage::ending)
      return;
    if (how != End::NONE) {
      probe_->failed();
      tell_end(one, how, [](auto) {});
    }
    one.now = stage::ending;
    deadlines_.take(one.request);
    line_.leave(one.request);
    queue_.remove(one.request);
    if (one.plan)
      report_end(one);
    for (auto ticket : one.to_decode.moves)
      moves_.abort(*one.plan, ticket);
    close_if_quiet(one);
  }

  /// As end(), also for one that has no plan, so that nobody waits to be told.
  void give_up(job& one, End how) {
    end(one, one.plan ? how : End::NONE);
    settle();
  }

  /// Its blocks are free once nobody reads or writes them any more.
  void close_if_quiet(job& one) {
    if (one.now != stage::ending || one.in_forward || !one.to_decode.moves.empty())
      return;
    closing_.push_back(one.request);
  }

  void close(job& one) {
    if (one.plan && !one.landed)
      land(one, false);
    for (auto block : one.blocks) {
      auto freed = ledger_.free(block, shard::owner_id{one.owner});
      PERIGEE_ASSERT(freed, "a block that was its own");
    }
    if (one.has_sequence)
      sequences_ended_.push_back(one.owner);
    if (one.has_cancel)
      tell_cancelled(gateway_of(one), one.request, *one.plan);
    remember(one.request);
    jobs_.erase(one.request);
  }

  void remember(std::uint64_t request) {
    if (!ended_.find(request)
        && !ended_.put(request, desk_.now() + how_.memory_limit, {}))
      log_->debug("memory_full");
  }

  /// What follows from whatever has just happened. At the end of every handler.
  void settle() {
    do {
      for (auto& [request, one] : jobs_)
        look_after(one);
      for (auto request : std::exchange(closing_, {}))
        if (auto* one = find(request)) // named twice, it is closed once
          close(*one);
      admit();
      pump();
    } while (!closing_.empty());
    changed();
  }

  void look_after(job& one) {
    bool failed = one.to_decode.failed;
    if (one.now == stage::handed_off && !failed)
      return land_if_done(one);
    if (one.now == stage::handed_off && failed)
      return end(one, End::NONE); // the decode instance tells the gateway
    if (one.now == stage::computing && failed)
      return end(one, End::TRANSFER_FAILED);
    close_if_quiet(one);
  }

  void on_deadline(std::uint64_t request) {
    if (auto* one = find(request))
      give_up(*one, End::DEADLINE);
  }

  void on_cancel(const Msg<schema::Cancel>& wish) {
    auto gateway = to_name<gateway_name>(wish->getGateway());
    if (!is_current(wish, gateway))
      return;
    auto* one = find(wish->getRequest());
    if (!one || !one->plan || gateway_of(*one) != gateway) {
      if (one && !one->plan)
        end(*one, End::NONE);
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
      news.setBy(schema::Role::PREFILL);
    });
  }

  void refuse(const Msg<schema::Prefill>& plan, End how) {
    job one;
    one.request = plan->getRequest();
    one.plan = plan;
    probe_->failed();
    tell_end(one, how, [](auto) {});
    land(one, false);
    report_end(one);
    changed();
  }

  template <class Fill>
  void tell_end(const job& one, End how, Fill fill) {
    desk_.tell<schema::Tokens>(gateway_of(one), *one.plan,
                               [&](schema::Tokens::Builder news) {
                                 auto run = news.initRuns(1)[0];
                                 run.setRequest(one.request);
                                 run.setEnd(how);
                                 run.setStages((*one.plan)->getStages());
                                 one.times.write(run.getStages(), desk_.now());
                                 fill(run);
                               });
  }

  static gateway_name gateway_of(const job& one) {
    return to_name<gateway_name>((*one.plan)->getGateway());
  }

  // -- who is there -----------------------------------------------------------

  void on_pinned(const Msg<schema::Pinned>&) {}
  void on_reserved(const Msg<schema::Reserved>&) {}

  void on_member(const Msg<schema::Member>& news) {
    if (!is_current(news, cluster_name{desk_.me().node, 0}))
      return;
    (void)news;
    settle();
  }

  // -- reports, and time ------------------------------------------------------

  void report_end(job& one) {
    if (!std::exchange(one.was_reported, true))
      reported_ended_.push_back(one.request);
  }

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
    constexpr std::size_t ended_max = 4096; // of one report
    auto ended = std::min(reported_ended_.size(), ended_max);
    bool there = desk_.tell<schema::PrefillLoad>(
      conductor_name{how_.control, 0}, rt::unprompted,
      [&](schema::PrefillLoad::Builder news) {
        set_name(news.initWho(), desk_.me());
        write_load(news);
        auto list = news.initEnded(static_cast<unsigned>(ended));
        for (unsigned i = 0; i < list.size(); ++i)
          list.set(i, reported_ended_[i]);
      });
    if (!there) // who comes in its place knows none of them
      ended = reported_ended_.size();
    reported_ended_.erase(reported_ended_.begin(),
                          reported_ended_.begin() + static_cast<std::ptrdiff_t>(ended));
  }

  void write_load(schema::PrefillLoad::Builder news) const {
    std::uint64_t tokens = 0;
    std::uint32_t waiting = 0, running = 0;
    for (const auto& [request, one] : jobs_) {
      if (!one.plan || one.now > stage::computing)
        continue;
      tokens += one.prompt_tokens() - one.computed;
      one.times.compute_began == moment{} ? ++waiting : ++running;
    }
    news.setWaiting(waiting);
    news.setRunning(running);
    news.setQueuedTokens(tokens);
    news.setBlocksFree(static_cast<std::uint32_t>(ledger_.counts().free));
  }

  void show_holdings() {
    auto counts = ledger_.counts();
    probe_->holds({jobs_.size(), line_.size(), moves_.size(), 0, deadlines_.size(),
                   blocks_total_ - counts.free, counts.free});
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

  job* find(std::uint64_t request) {
    auto at = jobs_.find(request);
    return at == jobs_.end() ? nullptr : &at->second;
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
  std::shared_ptr<transport::gate_board> gates_;
  std::uint32_t block_tokens_;
  std::size_t blocks_total_;
  shard::block_ledger ledger_;
  std::uint64_t tickets_; // begin where no other incarnation's do
  std::uint64_t owners_ = 0;
  block_line line_;
  prefill_queue queue_;
  movements<handle> moves_;
  report_pace pace_;
  rt::pending_table<std::uint64_t, char> deadlines_; // by request
  rt::pending_table<std::uint64_t, char> ended_;     // requests that are no more

  std::map<std::uint64_t, job> jobs_;
  std::vector<std::uint64_t> closing_;
  std::uint64_t forward_ticket_ = 0; // of the Forward that is open
  std::vector<share> in_forward_;
  std::vector<std::uint64_t> sequences_ended_;
  std::vector<std::uint64_t> reported_ended_;
};

} // namespace

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
