#include "actors/engine_host/engine_thread.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::engine_host {
namespace {

using std::chrono::nanoseconds;

// A gate's waiter looks up this often, so that its thread can be ended.
constexpr nanoseconds patience = std::chrono::milliseconds{50};

} // namespace

engine_thread::engine_thread(const rt::world& in, engine_actor host, drive_train with)
  : with_(std::move(with)), sequences_(limits_of(*with_.runs, with_.sequences_max)),
    ties_(std::in_place, in, std::move(host)), tag_(ties_->door.tag()) {}

// -- of whoever has the host --------------------------------------------------

void engine_thread::submit(const Msg<schema::Forward>& wish) {
  {
    std::lock_guard guard{mutex_};
    waiting_.push_back(wish);
  }
  changed_.notify_all();
}

void engine_thread::interrupt(std::uint64_t ticket) {
  if (interrupted_[0] != ticket && interrupted_[1] != ticket)
    interrupted_[interrupts_++ % interrupted_.size()] = ticket;
}

bool engine_thread::end() {
  std::unique_lock lock{mutex_};
  ended_ = true;
  changed_.notify_all();
  auto now = ties_->door.now();
  auto left = due_.value_or(now + with_.run_limit) - now;
  bool is_over = changed_.wait_for(lock, std::max(left, nanoseconds{0}),
                                   [this] { return is_over_; });
  ties_.reset();
  return is_over;
}

// -- of the thread ------------------------------------------------------------

void engine_thread::work() {
  while (auto wish = next())
    run(*wish);
  std::lock_guard guard{mutex_};
  is_over_ = true;
  changed_.notify_all();
}

std::optional<Msg<schema::Forward>> engine_thread::next() {
  std::unique_lock lock{mutex_};
  due_.reset();
  changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
  if (ended_)
    return std::nullopt;
  auto wish = std::move(waiting_.front());
  waiting_.pop_front();
  due_ = ties_->door.now() + with_.run_limit;
  return wish;
}

bool engine_thread::is_interrupted(std::uint64_t ticket) const {
  return interrupted_[0] == ticket || interrupted_[1] == ticket || ended_;
}

void engine_thread::run(const Msg<schema::Forward>& wish) {
  forward_run run{*with_.runs, sequences_, wish};
  gate_work gates{*with_.gates, *wish};
  if (run.complaint())
    with_.log->warn("bad_batch ticket={} why=\"{}\"", wish->getTicket(),
                    *run.complaint());
  else if (!gates.complete())
    run.starve();
  take_steps(run, gates);
  if (run.record().fault != schema::EngineFault::NONE)
    gates.fail();
  answer(wish, run.record());
}

void engine_thread::take_steps(forward_run& run, const gate_work& gates) {
  engine::layer_hooks hooks;
  auto patience_left = with_.gate_limit;
  hooks.before = [&](auto layer) { return wait_for(gates, layer, patience_left); };
  hooks.after = [&](auto layer) { gates.open_to(layer + 1); };
  for (bool first = true; run.has_step(); first = false) {
    if (!first && is_interrupted(run.record().ticket))
      return;
    auto began = now();
    run.step(first ? hooks : engine::layer_hooks{});
    run.set_duration(now() - began);
  }
}

/// Takes what it waits off `left`: what is computed between layers doesn't count.
bool engine_thread::wait_for(const gate_work& gates, std::uint32_t layer,
                             nanoseconds& left) {
  for (const auto& gate : gates.awaited())
    for (;;) {
      if (ended_)
        return false;
      auto began = now();
      auto passed = gate->wait(layer, std::clamp(left, nanoseconds{0}, patience));
      if (passed)
        break;
      left -= now() - began;
      if (passed.error() == transport::gate_fault::starved || left <= nanoseconds{0})
        return false;
    }
  return true;
}

/// Of nobody who was left alone: then it stands still.
engine_thread::moment engine_thread::now() const {
  std::lock_guard guard{mutex_};
  return ties_ ? ties_->door.now() : moment{};
}

void engine_thread::answer(const Msg<schema::Forward>& wish, const run_record& record) {
  std::lock_guard guard{mutex_};
  if (ties_)
    ties_->door.tell<schema::Ran>(ties_->host, wish, [&](schema::Ran::Builder ran) {
      set_result(ran.initResult(), record);
    });
}

} // namespace perigee::engine_host
