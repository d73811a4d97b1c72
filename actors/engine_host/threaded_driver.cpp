#include "actors/engine_host/threaded_driver.hpp"

#include <spdlog/logger.h>

namespace perigee::engine_host {
namespace {

using std::chrono::nanoseconds;

// A gate's waiter looks up this often, so that its thread can be ended.
constexpr nanoseconds patience = std::chrono::milliseconds{50};

} // namespace

threaded_driver::threaded_driver(const rt::world& in, engine_actor host,
                                 drive_train with)
  : with_(std::move(with)), host_(std::move(host)), door_(in, "enginerun"),
    sequences_(limits_of(*with_.runs, with_.sequences_max)),
    thread_([this] { work(); }) {}

threaded_driver::~threaded_driver() {
  {
    std::lock_guard guard{mutex_};
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void threaded_driver::submit(const Msg<schema::Forward>& wish) {
  {
    std::lock_guard guard{mutex_};
    waiting_.push_back(wish);
  }
  changed_.notify_all();
}

void threaded_driver::interrupt(std::uint64_t ticket) {
  if (interrupted_[0] != ticket && interrupted_[1] != ticket)
    interrupted_[interrupts_++ % interrupted_.size()] = ticket;
}

bool threaded_driver::is_interrupted(std::uint64_t ticket) const {
  return interrupted_[0] == ticket || interrupted_[1] == ticket || ended_;
}

bool threaded_driver::took(const Msg<schema::Ran>& ran) {
  return rt::actor_tag{ran->getHeader().getSender()} == door_.tag();
}

void threaded_driver::work() {
  while (auto wish = next())
    run(*wish);
}

std::optional<Msg<schema::Forward>> threaded_driver::next() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
  if (ended_)
    return std::nullopt;
  auto wish = std::move(waiting_.front());
  waiting_.pop_front();
  return wish;
}

void threaded_driver::run(const Msg<schema::Forward>& wish) {
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
  door_.tell<schema::Ran>(host_, wish, [&](schema::Ran::Builder ran) {
    set_result(ran.initResult(), run.record());
  });
}

void threaded_driver::take_steps(forward_run& run, const gate_work& gates) {
  engine::layer_hooks hooks;
  auto until = door_.now() + with_.gate_limit;
  hooks.before = [&](auto layer) { return wait_for(gates, layer, until); };
  hooks.after = [&](auto layer) { gates.open_to(layer + 1); };
  for (bool first = true; run.has_step(); first = false) {
    if (!first && is_interrupted(run.record().ticket))
      return;
    auto began = door_.now();
    run.step(first ? hooks : engine::layer_hooks{});
    run.set_duration(door_.now() - began);
  }
}

bool threaded_driver::wait_for(const gate_work& gates, std::uint32_t layer,
                               nanoseconds until) {
  for (const auto& gate : gates.awaited())
    for (;;) {
      auto left = until - door_.now();
      if (ended_ || left <= nanoseconds{0})
        return false;
      auto passed = gate->wait(layer, std::min(left, patience));
      if (passed)
        break;
      if (passed.error() == transport::gate_fault::starved)
        return false;
    }
  return true;
}

} // namespace perigee::engine_host
