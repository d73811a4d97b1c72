#include "actors/decode_instance/decode_state.hpp"
#include "actors/drawn.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::decode {
namespace {

/// What one Forward says at most of sequences that are new to the engine: the rest of
/// the message is for those that are not.
constexpr std::size_t news_bytes_max = message_bytes_max / 2;

/// At most so many bytes tell an engine of `one` for the first time.
std::size_t news_bytes(const guest& one) {
  return (**one.handoff).totalSize().wordCount * sizeof(std::uint64_t)
         + (one.answer->answer().size() + one.blocks.size()) * sizeof(std::uint32_t);
}

candidate candidate_of(const guest& one) {
  return {one.request, one.answer->kv_tokens(), one.answer->steps_left(),
          static_cast<std::uint32_t>(one.blocks.size()),
          one.has_sequence ? 0 : news_bytes(one)};
}

void write_begin(schema::Forward::Begin::Builder begin, const guest& one) {
  const auto& news = **one.handoff;
  const auto& answer = one.answer->answer();
  begin.setSequence(one.owner);
  begin.setSampling(news.getSampling());
  begin.setSeen(news.getSeen());
  begin.setAnswered({answer.data(), answer.size()});
}

void write_work(schema::Forward::Work::Builder work, guest& one, std::uint32_t steps) {
  work.setSequence(one.owner);
  work.setFirstPosition(one.answer->next_position());
  work.setTokens({one.answer->next_token()});
  work.setFirstBlock(one.blocks_told);
  work.setBlocks(
    {one.blocks.data() + one.blocks_told, one.blocks.size() - one.blocks_told});
  one.blocks_told = static_cast<std::uint32_t>(one.blocks.size());
  work.setSteps(std::min(steps, one.answer->steps_left()));
}

/// Every step of a run names them in the same order, so the one at `next` is mostly who
/// is looked for. Null if nobody is.
template <class Taker>
Taker* find_from(std::size_t& next, std::vector<Taker>& all, std::uint64_t owner) {
  auto is_owner = [&](const Taker& one) { return one.who->owner == owner; };
  if (next >= all.size() || !is_owner(all[next]))
    next = static_cast<std::size_t>(std::find_if(all.begin(), all.end(), is_owner)
                                    - all.begin());
  return next < all.size() ? &all[next++] : nullptr;
}

} // namespace

/// False if some have ended by that.
bool decode_state::pump() {
  if (forward_ticket_ != 0)
    return true;
  auto plan = plan_next();
  if (!park_some(plan))
    return false;
  if (plan.run.empty() && sequences_ended_.empty()) {
    set_batch({});
    return true;
  }
  set_batch(plan.run);
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
  is_interrupted_ = false;
  steps_asked_ = plan.steps;
  return true;
}

engine_name decode_state::engine() const {
  return {desk_.me().node, how_.engine};
}

batch decode_state::plan_next() const {
  std::size_t coming = 0;
  for (const auto& [request, one] : guests_)
    if (one.now == stage::parking || one.now == stage::ending)
      coming += one.blocks.size();
  std::vector<candidate> all;
  for (const auto* one : guests_.by_age(stage::ready))
    all.push_back(candidate_of(*one));
  return plan_batch(all, {block_tokens_, how_.batch_max, how_.steps_max,
                          ledger_.counts().free, coming, news_bytes_max});
}

/// What is said of load, and predicted of steps, is as of the last change of the batch.
void decode_state::set_batch(const std::vector<std::uint64_t>& run) {
  if (batch_.is(run))
    return;
  tbt_.learn();
  auto first = guests_.set_batch(run);
  batch_.begin(run, desk_.now(), tbt_.predict(first));
}

void decode_state::grow(guest& one, std::uint32_t steps) {
  take_blocks(one, blocks_lacking(candidate_of(one), steps, block_tokens_));
  if (one.began_at == moment{})
    one.began_at = desk_.now();
  one.in_run = true;
}

void decode_state::write_forward(schema::Forward::Builder wish, const batch& plan) {
  set_asker(wish.initOwner(), desk_.me());
  wish.setTicket(++tickets_);
  wish.setStepsMax(std::max(plan.steps, 1u));
  wish.setEnds({sequences_ended_.data(), sequences_ended_.size()});
  std::vector<guest*> begun;
  auto work = wish.initWork(static_cast<unsigned>(plan.run.size()));
  for (unsigned i = 0; i < work.size(); ++i) {
    auto& one = guests_.at(plan.run[i]);
    write_work(work[i], one, plan.steps);
    if (!std::exchange(one.has_sequence, true))
      begun.push_back(&one);
  }
  auto begins = wish.initBegins(static_cast<unsigned>(begun.size()));
  for (unsigned i = 0; i < begins.size(); ++i)
    write_begin(begins[i], *begun[i]);
}

/// What is to run next is another batch.
void decode_state::interrupt() {
  if (forward_ticket_ == 0 || steps_asked_ <= 1 || std::exchange(is_interrupted_, true))
    return;
  probe_->interrupted();
  desk_.tell<schema::Interrupt>(engine(), rt::unprompted,
                                [&](auto wish) { wish.setTicket(forward_ticket_); });
}

void decode_state::on_forwarded(const Msg<schema::Forwarded>& said) {
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

void decode_state::fail_run(const std::vector<std::uint64_t>& run) {
  for (auto request : run) {
    auto& one = guests_.at(request);
    one.in_run = false;
    end(one, End::ENGINE_FAILED);
    one.has_offer = false; // what is in its last block is undefined
  }
}

void decode_state::take_run(const std::vector<std::uint64_t>& run,
                            schema::RunResult::Reader result) {
  std::vector<taker> takers; // in the order of the Forward
  step_load load;
  for (auto request : run) {
    auto& one = guests_.at(request);
    one.in_run = false;
    touched_.insert(request);
    takers.push_back({&one});
    load.kv_tokens += one.answer->kv_tokens() + 1;
  }
  gifts all;
  for (auto step : result.getSteps()) {
    auto drawn = step.getDrawn();
    load.sequences = drawn.size();
    tbt_.observe(load, moment{step.getDurationNs()});
    probe_->stepped(drawn.size());
    load.kv_tokens += drawn.size();
    std::size_t next = 0;
    for (auto one : drawn)
      if (auto* by = find_from(next, takers, one.getSequence()))
        take_draw(*by, one, all);
  }
  pass_on(all, result);
}

void decode_state::take_draw(taker& by, schema::RunResult::One::Reader drawn,
                             gifts& all) {
  if (by.who->now == stage::ending)
    return;
  if (!by.got)
    by.got = &all[by.who->request];
  if (drawn.getStopped()) {
    by.got->stop = drawn.getDrawn().getToken();
  } else {
    by.who->answer->append(drawn.getDrawn().getToken());
    by.got->tokens.push_back(drawn.getDrawn());
  }
}

/// One message to each gateway.
void decode_state::pass_on(const gifts& all, schema::RunResult::Reader result) {
  auto steps = result.getSteps();
  std::map<gateway_name, std::vector<std::uint64_t>> by_gateway;
  for (const auto& [request, got] : all)
    by_gateway[guests_.at(request).gateway].push_back(request);
  for (const auto& [gateway, theirs] : by_gateway)
    desk_.tell<schema::Tokens>(
      gateway, rt::unprompted, [&, &requests = theirs](schema::Tokens::Builder news) {
        auto runs = news.initRuns(static_cast<unsigned>(requests.size()));
        for (unsigned i = 0; i < runs.size(); ++i)
          write_gift(runs[i], guests_.at(requests[i]), all.at(requests[i]));
        auto spans = news.initStepNs(steps.size());
        for (unsigned i = 0; i < spans.size(); ++i)
          spans.set(i, steps[i].getDurationNs());
      });
  for (const auto& [request, got] : all) {
    auto& one = guests_.at(request);
    if (!got.stop && one.answer->steps_left() > 0)
      continue;
    probe_->finished();
    end(one, End::NONE);
  }
}

void decode_state::write_gift(schema::Tokens::Run::Builder run, const guest& one,
                              const gift& got) const {
  run.setRequest(one.request);
  auto tokens = run.initTokens(static_cast<unsigned>(got.tokens.size()));
  for (unsigned i = 0; i < tokens.size(); ++i)
    set_drawn(tokens[i], got.tokens[i]);
  if (got.stop) {
    run.setStopToken(*got.stop);
    write_end(run, one, End::STOP);
  } else if (one.answer->steps_left() == 0) {
    write_end(run, one, End::LENGTH);
  }
}

void decode_state::write_end(schema::Tokens::Run::Builder run, const guest& one,
                             End how) const {
  run.setEnd(how);
  if (!one.is_accepted())
    return;
  run.setCachedTokens((*one.handoff)->getCachedTokens());
  run.setStages((*one.handoff)->getStages());
  one.write_stages(run.getStages(), desk_.now());
}

} // namespace perigee::decode
