#include "actors/engine_host/timed_driver.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::engine_host {
namespace {

// Of a long run so many are computed at once: an interrupt undoes most of them.
constexpr std::size_t steps_ahead_max = 64;

} // namespace

timed_driver::timed_driver(const rt::world& in, engine_actor host,
                           rt::desk<engine_actor>& desk, drive_train with)
  : with_(std::move(with)), host_(host), desk_(desk),
    sequences_(limits_of(*with_.runs, with_.sequences_max)),
    ear_(std::make_shared<gate_ear>(in, host)), layers_(with_.runs->model().layers) {}

timed_driver::~timed_driver() {
  ear_->hush();
}

void timed_driver::submit(const Msg<schema::Forward>& wish) {
  waiting_.push_back(wish);
  begin_next();
}

void timed_driver::begin_next() {
  if (now_ || waiting_.empty())
    return;
  auto wish = std::move(waiting_.front());
  waiting_.pop_front();
  begin(wish);
}

void timed_driver::begin(const Msg<schema::Forward>& wish) {
  now_.emplace(*with_.runs, sequences_, *with_.gates, wish);
  now_->began = desk_.now();
  now_->interrupted = interrupted_next_ == wish->getTicket();
  interrupted_next_.reset();
  if (now_->run.complaint())
    with_.log->warn("bad_batch ticket={} why=\"{}\"", wish->getTicket(),
                    *now_->run.complaint());
  else if (!now_->gates.complete())
    now_->run.starve();
  if (now_->run.has_step() && !now_->gates.awaited().empty())
    wait_for_gates();
  else
    compute_ahead();
}

void timed_driver::wait_for_gates() {
  now_->waits = true;
  wake_at(now_->began + with_.gate_limit);
  ear_->listen(now_->gates.awaited(), layers_, number_);
}

void timed_driver::stop_waiting() {
  now_->waits = false;
  if (ear_->opened().size() < layers_)
    now_->run.starve();
  ear_->hush();
  compute_ahead();
}

/// When the first step ends: no layer before its gates were open.
timed_driver::moment timed_driver::first_end() const {
  auto cost = with_.speed.of(now_->run.cost(), now_->began);
  auto end = now_->began + cost;
  auto opened = ear_->opened();
  if (now_->gates.awaited().empty())
    return end;
  for (std::uint32_t layer = 0; layer < layers_; ++layer)
    end = std::max(end, opened[layer] + cost * (layers_ - layer) / layers_);
  return end;
}

void timed_driver::compute_ahead() {
  auto& run = now_->run;
  auto end = desk_.now();
  now_->ends.clear();
  now_->steps_before = run.record().steps.size();
  while (run.has_step() && now_->ends.size() < steps_ahead_max) {
    bool first = run.record().steps.empty();
    auto began = first ? now_->began : end;
    end = first ? first_end() : end + with_.speed.of(run.cost(), end);
    run.step({});
    run.set_duration(end - began);
    now_->ends.push_back(end);
    if (now_->interrupted)
      run.end_after(run.record().steps.size());
  }
  wake_at(end);
}

void timed_driver::interrupt(std::uint64_t ticket) {
  if (!now_ || now_->run.record().ticket != ticket) {
    for (const auto& wish : waiting_)
      if (wish->getTicket() == ticket)
        interrupted_next_ = ticket;
    return;
  }
  now_->interrupted = true;
  if (now_->waits || now_->ends.empty())
    return;
  auto in = std::lower_bound(now_->ends.begin(), now_->ends.end(), desk_.now());
  if (in == now_->ends.end())
    return; // it ends now
  auto steps = static_cast<std::size_t>(in - now_->ends.begin()) + 1;
  bool is_last = steps == now_->ends.size() && !now_->run.has_step();
  if (is_last || now_->run.record().fault != schema::EngineFault::NONE)
    return;
  now_->run.end_after(now_->steps_before + steps);
  wake_at(*in);
}

bool timed_driver::took(const Msg<schema::Ran>& ran) {
  auto sender = rt::actor_tag{ran->getHeader().getSender()};
  if (!now_ || ran->getNumber() != number_
      || (sender != desk_.tag() && sender != ear_->tag()))
    return false;
  if (now_->waits)
    return stop_waiting(), false;
  if (now_->run.has_step())
    return compute_ahead(), false;
  end();
  return true;
}

void timed_driver::end() {
  if (now_->run.record().fault == schema::EngineFault::NONE)
    now_->gates.open_to(layers_);
  else
    now_->gates.fail();
  now_.reset();
  begin_next();
}

void timed_driver::wake_at(moment when) {
  auto fill = [&](schema::Ran::Builder ran) {
    ran.setNumber(++number_);
    if (!now_->waits && !now_->run.has_step())
      set_result(ran.initResult(), now_->run.record());
  };
  if (when > desk_.now())
    desk_.tell_after<schema::Ran>(host_, when - desk_.now(), now_->run.wish(), fill);
  else
    desk_.tell<schema::Ran>(host_, now_->run.wish(), fill);
}

} // namespace perigee::engine_host
