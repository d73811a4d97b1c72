#include "actors/engine_host/threaded_driver.hpp"

#include <spdlog/logger.h>

namespace perigee::engine_host {

threaded_driver::threaded_driver(const rt::world& in, engine_actor host,
                                 rt::desk<engine_actor>& desk, drive_train with)
  : host_(host), desk_(desk), run_limit_(with.run_limit), log_(with.log),
    watched_(
      1, [this](auto due, auto epoch) { wake_at(due, epoch); },
      [this](auto, char) { is_silent_ = true; }),
    shared_(std::make_shared<engine_thread>(in, std::move(host), std::move(with))),
    thread_([shared = shared_] { shared->work(); }) {}

threaded_driver::~threaded_driver() {
  if (shared_->end()) {
    thread_.join();
  } else {
    log_->warn("engine_left_alone limit_ns={}", run_limit_.count());
    thread_.detach();
  }
}

void threaded_driver::submit(const Msg<schema::Forward>& wish) {
  if (unanswered_++ == 0)
    watch();
  shared_->submit(wish);
}

void threaded_driver::interrupt(std::uint64_t ticket) {
  shared_->interrupt(ticket);
}

bool threaded_driver::took(const Msg<schema::Ran>& ran) {
  auto sender = rt::actor_tag{ran->getHeader().getSender()};
  if (sender == desk_.tag())
    watched_.on_timer(ran->getNumber(), desk_.now());
  if (sender != shared_->tag())
    return false;
  watched_.take(runs_);
  if (--unanswered_ > 0)
    watch();
  return true;
}

/// The thread begins with what is oldest about now.
void threaded_driver::watch() {
  bool is_free = watched_.put(++runs_, desk_.now() + run_limit_, {});
  PERIGEE_ASSERT(is_free, "only the oldest is watched");
}

void threaded_driver::wake_at(std::chrono::nanoseconds due, std::uint64_t epoch) {
  desk_.tell_after<schema::Ran>(
    host_, due - desk_.now(), rt::unprompted,
    [=](schema::Ran::Builder timer) { timer.setNumber(epoch); });
}

} // namespace perigee::engine_host
