#include "actors/asker.hpp"
#include "actors/coupled_instance/coupled_state.hpp"
#include "actors/drawn.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::coupled {

// -- a batch ------------------------------------------------------------------

/// False if somebody has ended by that.
bool coupled_state::pump() {
  if (forward_ticket_ != 0)
    return true;
  auto plan = schedule_(line_);
  for (std::size_t i = 0; i < plan.preempted.size(); ++i)
    probe_->preempted();
  if (plan.hopeless) {
    end(residents_.at(*plan.hopeless), End::BUSY);
    return false;
  }
  if (plan.work.empty() && !line_.has_closed())
    return true;
  begin(plan);
  bool there = desk_.tell<schema::Forward>(
    engine(), cause_of(plan),
    [&](schema::Forward::Builder wish) { write_forward(wish, plan); });
  if (!there) { // and soon we aren't either: an engine and its owner are one
    line_.take_closed();
    fail_batch(plan);
    return plan.work.empty();
  }
  forward_ticket_ = tickets_;
  in_forward_ = std::move(plan);
  is_interrupted_ = false;
  return true;
}

engine_name coupled_state::engine() const {
  return {desk_.me().node, how_.engine};
}

/// A batch of several requests is caused by none of them.
rt::cause coupled_state::cause_of(const iteration& plan) {
  return plan.work.size() == 1
           ? rt::cause{*residents_.at(plan.work.front().request).plan}
           : rt::unprompted;
}

void coupled_state::begin(const iteration& plan) {
  for (const auto& part : plan.work) {
    auto& one = residents_.at(part.request);
    one.in_forward = true;
    if (one.began != moment{})
      continue;
    one.began = desk_.now();
    probe_->reused(one.place->cached);
  }
}

void coupled_state::write_forward(schema::Forward::Builder wish,
                                  const iteration& plan) {
  set_asker(wish.initOwner(), desk_.me());
  wish.setTicket(++tickets_);
  wish.setStepsMax(plan.steps);
  auto closed = line_.take_closed();
  wish.setEnds({closed.data(), closed.size()});
  std::vector<resident*> begun;
  auto work = wish.initWork(static_cast<unsigned>(plan.work.size()));
  for (unsigned i = 0; i < work.size(); ++i) {
    auto& one = residents_.at(plan.work[i].request);
    write_work(work[i], one, plan.work[i], plan.steps);
    if (!std::exchange(one.place->is_told, true))
      begun.push_back(&one);
  }
  auto begins = wish.initBegins(static_cast<unsigned>(begun.size()));
  for (unsigned i = 0; i < begins.size(); ++i)
    write_begin(begins[i], *begun[i]);
}

void coupled_state::write_work(schema::Forward::Work::Builder work, resident& one,
                               const share& part, std::uint32_t steps) const {
  auto& place = *one.place;
  const auto& text = place.text;
  const auto& blocks = line_.tables().blocks_of(place.table);
  work.setSequence(place.table);
  work.setFirstPosition(place.computed);
  work.setTokens({text.tokens().data() + place.computed, part.tokens});
  work.setFirstBlock(place.blocks_told);
  work.setBlocks(
    {blocks.data() + place.blocks_told, blocks.size() - place.blocks_told});
  place.blocks_told = static_cast<std::uint32_t>(blocks.size());
  work.setSteps(part.tokens == place.rest() ? steps : 0);
  if (place.is_scored && text.size() == text.prompt_tokens())
    work.setScores(static_cast<std::int16_t>(one.logprobs_of_prompt()));
}

void coupled_state::write_begin(schema::Forward::Begin::Builder begin,
                                const resident& one) {
  auto sampling = one.last_part()->getSampling();
  const auto& text = one.place->text;
  begin.setSequence(one.place->table);
  begin.setSampling(sampling);
  begin.setAnswered({text.answer().data(), text.answer().size()});
  if (sampling.getRepetitionPenalty() == 1)
    return;
  std::vector<std::uint32_t> seen(text.tokens().begin(),
                                  text.tokens().begin() + text.prompt_tokens());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  begin.setSeen({seen.data(), seen.size()});
}

/// What is to run next is another batch.
void coupled_state::interrupt() {
  if (forward_ticket_ == 0 || in_forward_.steps <= 1
      || std::exchange(is_interrupted_, true))
    return;
  probe_->interrupted();
  desk_.tell<schema::Interrupt>(engine(), rt::unprompted,
                                [&](auto wish) { wish.setTicket(forward_ticket_); });
}

// -- and what came of it ------------------------------------------------------

void coupled_state::on_forwarded(const Msg<schema::Forwarded>& said) {
  if (!is_current(said, engine()))
    return;
  auto result = said->getResult();
  if (result.getTicket() != forward_ticket_)
    return probe_->dropped_stale();
  forward_ticket_ = 0;
  auto ran = std::exchange(in_forward_, {});
  if (result.getFault() != schema::EngineFault::NONE) {
    log_->warn("forward_failed fault={}", static_cast<int>(result.getFault()));
    fail_batch(ran);
  } else if (!ran.work.empty()) {
    take_batch(ran, result);
  }
  settle();
}

void coupled_state::fail_batch(const iteration& ran) {
  for (const auto& part : ran.work) {
    auto& one = residents_.at(part.request);
    one.in_forward = false;
    end(one, End::ENGINE_FAILED);
  }
}

void coupled_state::take_batch(const iteration& ran, schema::RunResult::Reader result) {
  std::map<table_id, resident*> by_table;
  std::size_t prompt_tokens = 0;
  for (const auto& part : ran.work) {
    auto& one = residents_.at(part.request);
    one.in_forward = false;
    touched_.insert(part.request);
    by_table.emplace(one.place->table, &one);
    prompt_tokens += one.place->decodes() ? 0 : part.tokens;
    line_.fed(*one.place, part.tokens); // of who has ended, too: others may begin alike
    if (one.place->is_scored && one.now != stage::ending)
      take_scores(one, result);
  }
  probe_->ran_batch(prompt_tokens);
  gifts all;
  bool is_first_step = true;
  for (auto step : result.getSteps()) {
    auto drawn = step.getDrawn();
    probe_->stepped(drawn.size());
    for (auto one : drawn) {
      auto& of = *by_table.at(one.getSequence());
      if (of.now == stage::ending)
        continue;
      if (!is_first_step)
        line_.fed(*of.place, 1); // what it drew before
      take_draw(of, one, all);
    }
    is_first_step = false;
  }
  pass_on(all, result);
}

/// Those that were not told before it had to make room.
void coupled_state::take_scores(resident& one, schema::RunResult::Reader result) {
  for (auto scores : result.getScores()) {
    if (scores.getSequence() != one.place->table)
      continue;
    auto list = scores.getScores();
    auto first = scores.getFirstPosition();
    auto skipped = std::min(one.scored > first ? one.scored - first : 0, list.size());
    one.scored = std::max(one.scored, first + list.size());
    if (skipped == list.size())
      continue;
    desk_.tell<schema::PromptScores>(
      one.gateway(), *one.plan, [&](schema::PromptScores::Builder news) {
        news.setRequest(one.request);
        news.setFirstToken(first + skipped);
        auto told = news.initScores(list.size() - skipped);
        for (unsigned i = 0; i < told.size(); ++i)
          set_drawn(told[i], list[skipped + i]);
      });
  }
}

void coupled_state::take_draw(resident& one, schema::RunResult::One::Reader drawn,
                              gifts& all) {
  auto& got = all[one.request];
  if (one.first_at == moment{}) {
    one.first_at = desk_.now();
    got.is_first = true;
    report_first(one);
  }
  if (drawn.getStopped()) {
    got.stop = drawn.getDrawn().getToken();
  } else {
    line_.drew(*one.place, drawn.getDrawn().getToken());
    got.tokens.push_back(drawn.getDrawn());
  }
}

/// One message to each gateway.
void coupled_state::pass_on(const gifts& all, schema::RunResult::Reader result) {
  auto steps = result.getSteps();
  std::map<gateway_name, std::vector<std::uint64_t>> by_gateway;
  for (const auto& [request, got] : all)
    by_gateway[residents_.at(request).gateway()].push_back(request);
  for (const auto& [gateway, theirs] : by_gateway)
    desk_.tell<schema::Tokens>(
      gateway, rt::unprompted, [&, &requests = theirs](schema::Tokens::Builder news) {
        auto runs = news.initRuns(static_cast<unsigned>(requests.size()));
        for (unsigned i = 0; i < runs.size(); ++i)
          write_gift(runs[i], residents_.at(requests[i]), all.at(requests[i]));
        auto spans = news.initStepNs(steps.size());
        for (unsigned i = 0; i < spans.size(); ++i)
          spans.set(i, steps[i].getDurationNs());
      });
  for (const auto& [request, got] : all) {
    auto& one = residents_.at(request);
    if (!got.stop && one.place->text.draws_left() > 0)
      continue;
    probe_->finished();
    end(one, End::NONE);
  }
}

void coupled_state::write_gift(schema::Tokens::Run::Builder run, const resident& one,
                               const gift& got) const {
  run.setRequest(one.request);
  auto tokens = run.initTokens(static_cast<unsigned>(got.tokens.size()));
  for (unsigned i = 0; i < tokens.size(); ++i)
    set_drawn(tokens[i], got.tokens[i]);
  bool is_whole = one.place->text.draws_left() == 0;
  if (got.stop)
    run.setStopToken(*got.stop);
  if (got.stop || is_whole || got.is_first)
    write_end(run, one, got.stop ? End::STOP : is_whole ? End::LENGTH : End::NONE);
}

void coupled_state::write_end(schema::Tokens::Run::Builder run, const resident& one,
                              End how) const {
  run.setRequest(one.request);
  run.setEnd(how);
  run.setCachedTokens(one.cached_tokens());
  run.setStages((*one.plan)->getStages());
  one.write_stages(run.getStages(), desk_.now());
}

} // namespace perigee::coupled
