#include "actors/prefill_group/prefill_state.hpp"
#include "actors/prefill_group/prefill_words.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::prefill {

// -- computing ----------------------------------------------------------------

void prefill_state::compute(job& one) {
  one.now = stage::computing;
  queue_.add(one.request, one.prompt_tokens() - one.computed, one.is_scored());
}

/// False if some have ended by that.
bool prefill_state::pump() {
  if (forward_ticket_ != 0)
    return true;
  auto some = queue_.next_chunk();
  if (some.empty())
    some = first_of_loading();
  if (some.empty() && sequences_ended_.empty())
    return true;
  auto gate = open_gate(some);
  for (const auto& part : some)
    begin_share(jobs_.at(part.request), part.tokens, gate);
  bool there = desk_.tell<schema::Forward>(
    engine(), cause_of(some),
    [&](schema::Forward::Builder wish) { write_forward(wish, some); });
  sequences_ended_.clear();
  if (!there) { // and soon we aren't either: an engine and its owner are one
    fail_chunk(some);
    return some.empty();
  }
  forward_ticket_ = tickets_;
  forward_began_ = desk_.now();
  in_forward_ = some;
  for (const auto& part : some)
    send_ready(jobs_.at(part.request));
  return true;
}

engine_name prefill_state::engine() const {
  return {desk_.me().node, how_.engine};
}

/// A chunk of several requests is caused by none of them.
rt::cause prefill_state::cause_of(const chunk& some) const {
  return some.size() == 1 ? rt::cause{*jobs_.at(some.front().request).plan}
                          : rt::unprompted;
}

/// Of a chunk, if there is a place for one: else blocks are sent when they are whole.
gate_ptr prefill_state::open_gate(const chunk& some) {
  return some.empty() ? nullptr : open_gate();
}

void prefill_state::begin_share(job& one, std::uint32_t tokens, const gate_ptr& gate) {
  if (one.times.compute_began == moment{})
    one.times.compute_began = desk_.now();
  one.in_forward = true;
  one.flying = tokens;
  one.gate = gate;
  if (!one.asked_room && !one.has_one_token_answer())
    ask_room(one);
}

void prefill_state::write_forward(schema::Forward::Builder wish, const chunk& some) {
  set_asker(wish.initOwner(), desk_.me());
  wish.setTicket(++tickets_);
  wish.setEnds({sequences_ended_.data(), sequences_ended_.size()});
  std::vector<job*> begun;
  auto work = wish.initWork(static_cast<unsigned>(some.size()));
  for (unsigned i = 0; i < work.size(); ++i) {
    auto& one = jobs_.at(some[i].request);
    write_work(work[i], one);
    if (!std::exchange(one.has_sequence, true))
      begun.push_back(&one);
  }
  auto begins = wish.initBegins(static_cast<unsigned>(begun.size()));
  for (unsigned i = 0; i < begins.size(); ++i)
    write_begin(begins[i], *begun[i]);
}

void prefill_state::on_forwarded(const Msg<schema::Forwarded>& said) {
  auto result = said->getResult();
  if (!is_current(said, engine()))
    return;
  if (result.getTicket() != forward_ticket_ || held_)
    return probe_->dropped_stale();
  if (is_loading(in_forward_))
    held_ = said; // what it was computed from may yet turn out to be stale
  else
    take_chunk(result);
  settle();
}

bool prefill_state::is_loading(const chunk& some) const {
  return std::any_of(some.begin(), some.end(), [this](const share& part) {
    return jobs_.at(part.request).fetch_ticket != 0;
  });
}

void prefill_state::take_chunk(schema::RunResult::Reader result) {
  forward_ticket_ = 0;
  auto some = std::exchange(in_forward_, {});
  auto fault = result.getFault();
  if (some.size() == 1 && has_starved(jobs_.at(some.front().request), fault))
    return start_over(jobs_.at(some.front().request));
  if (fault != schema::EngineFault::NONE) {
    log_->warn("forward_failed fault={}", static_cast<int>(fault));
    return fail_chunk(some);
  }
  see_pace(some);
  for (const auto& part : some)
    take_share(jobs_.at(part.request), result);
}

/// Of a chunk that waited for nobody.
void prefill_state::see_pace(const chunk& some) {
  std::uint32_t tokens = 0;
  for (const auto& part : some) {
    if (jobs_.at(part.request).arrival)
      return;
    tokens += part.tokens;
  }
  load_pace_.computed(tokens, desk_.now() - forward_began_);
}

void prefill_state::take_share(job& one, schema::RunResult::Reader result) {
  touched_.insert(one.request);
  probe_->computed(one.flying);
  one.in_forward = false;
  one.arrival.reset();
  one.computed += std::exchange(one.flying, 0);
  if (one.now == stage::ending)
    return;
  send_ready(one);
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

void prefill_state::fail_chunk(const chunk& some) {
  for (const auto& part : some) {
    auto& one = jobs_.at(part.request);
    touched_.insert(one.request);
    one.in_forward = false;
    one.flying = 0;
    one.gate.reset();
    end(one, End::ENGINE_FAILED);
  }
}

void prefill_state::tell_scores(const job& one,
                                schema::RunResult::Scores::Reader scores) {
  desk_.tell<schema::PromptScores>(one.gateway(), *one.plan,
                                   [&](schema::PromptScores::Builder news) {
                                     news.setRequest(one.request);
                                     news.setFirstToken(scores.getFirstPosition());
                                     news.setScores(scores.getScores());
                                   });
}

} // namespace perigee::prefill
