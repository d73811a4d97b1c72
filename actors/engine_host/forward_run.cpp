#include "actors/engine_host/forward_run.hpp"

#include <map>

namespace perigee::engine_host {
namespace {

// Well below what a message holds: one more step may be added when it is reached.
constexpr std::size_t drawn_bytes_max = message_bytes_max / 4;

schema::EngineFault to_fault(engine::run_fault why) {
  switch (why) {
    case engine::run_fault::bad_batch: return schema::EngineFault::BAD_BATCH;
    case engine::run_fault::starved: return schema::EngineFault::STARVED;
    case engine::run_fault::device: return schema::EngineFault::DEVICE;
  }
  return schema::EngineFault::DEVICE;
}

} // namespace

forward_run::forward_run(engine::engine& runs, sequence_table& table,
                         Msg<schema::Forward> wish)
  : runs_(runs), table_(table), wish_(std::move(wish)) {
  record_.ticket = wish_->getTicket();
  complaint_ = table.find_fault(*wish_);
  if (complaint_) {
    fail(schema::EngineFault::BAD_BATCH);
    return;
  }
  table.apply(*wish_);
  for (auto work : wish_->getWork())
    parts_.push_back(first_part(work));
  plan();
}

forward_run::part forward_run::first_part(schema::Forward::Work::Reader work) const {
  part first;
  first.number = work.getSequence();
  first.of = &table_.at(first.number);
  first.position = work.getFirstPosition();
  first.steps = std::min(work.getSteps(), wish_->getStepsMax());
  first.scores = work.getScores();
  auto tokens = work.getTokens();
  first.tokens.resize(tokens.size());
  for (unsigned i = 0; i < tokens.size(); ++i)
    first.tokens[i] = tokens[i];
  return first;
}

/// It feeds what it drew.
void forward_run::part::go_on(engine::token_id drew) {
  position += static_cast<std::uint32_t>(tokens.size());
  --steps;
  tokens.assign(1, drew);
  scores = -1;
}

bool forward_run::has_step() const {
  return !parts_.empty() && !is_over_ && record_.steps.size() < wish_->getStepsMax()
         && record_bytes_ < drawn_bytes_max;
}

void forward_run::plan() {
  slices_.clear();
  slices_.reserve(parts_.size());
  for (auto& one : parts_) {
    engine::slice fed{one.tokens, one.position, one.of->blocks, nullptr, nullptr, {}};
    if (one.steps > 0) {
      fed.pick = &one.of->pick;
      fed.drawn = &one.drawn;
    }
    slices_.push_back(std::move(fed));
  }
}

void forward_run::score_with(engine::slice& one, part& of) {
  record_.scored.push_back({of.number, of.position, {}});
  auto& scored = record_.scored.back();
  if (of.position > 0)
    scored.of.push_back(engine::score(of.of->last_row, of.tokens.front(), of.scores));
  else
    scored.first_position = 1; // nothing is before the very first token
  one.on_logits = [&of, to = record_.scored.size() - 1,
                   this](std::uint32_t position, std::span<const float> row) {
    auto next = position + 1 - of.position;
    if (next < of.tokens.size())
      record_.scored[to].of.push_back(engine::score(row, of.tokens[next], of.scores));
    else
      of.of->last_row.assign(row.begin(), row.end());
  };
}

void forward_run::step(const engine::layer_hooks& hooks) {
  if (record_.steps.empty())
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].scores >= 0)
        score_with(slices_[i], parts_[i]);
  auto ran = runs_.run(slices_, hooks);
  if (!ran)
    return fail(to_fault(ran.error()));
  take_draws();
  plan();
}

void forward_run::take_draws() {
  run_record::step taken;
  taken.drawn.reserve(parts_.size());
  std::erase_if(parts_, [](const part& one) { return one.steps == 0; });
  for (auto& one : parts_) {
    bool stopped = one.of->is_stop(one.drawn.token);
    one.of->answered.push_back(one.drawn.token);
    record_bytes_ += drawn_bytes(static_cast<int>(one.drawn.top.size()));
    is_over_ = is_over_ || stopped || one.steps == 1;
    taken.drawn.push_back({one.number, std::move(one.drawn), stopped});
    one.go_on(taken.drawn.back().what.token);
  }
  record_.steps.push_back(std::move(taken));
}

void forward_run::set_duration(std::chrono::nanoseconds span) {
  if (record_.fault == schema::EngineFault::NONE)
    record_.steps.back().duration = span;
}

void forward_run::end_after(std::size_t steps) {
  parts_.clear();
  std::map<std::uint64_t, std::size_t> undone;
  while (record_.steps.size() > steps) {
    for (const auto& one : record_.steps.back().drawn)
      ++undone[one.sequence];
    record_.steps.pop_back();
  }
  for (auto [number, draws] : undone)
    table_.at(number).undo(draws);
}

void forward_run::starve() {
  fail(schema::EngineFault::STARVED);
}

void forward_run::fail(schema::EngineFault why) {
  // Of an earlier step, tokens were drawn; of this run nobody is told.
  end_after(0);
  record_.fault = why;
  record_.scored.clear();
}

} // namespace perigee::engine_host
