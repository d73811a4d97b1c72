/// \file
/// engine_thread: what the thread of an engine does, and may be left alone with.
#pragma once

#include "actors/engine_host/driver.hpp"
#include "actors/engine_host/forward_run.hpp"
#include "actors/engine_host/gate_work.hpp"
#include "actors/runtime/doorway.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace perigee::engine_host {

/// One thread is in work(); another, which has the host, says everything else. Shared
/// by the two: an engine that never comes back keeps nothing but itself and this.
class engine_thread {
public:
  engine_thread(const rt::world& in, engine_actor host, drive_train with);

  /// Runs what is submitted until it is to end.
  void work();

  void submit(const Msg<schema::Forward>& wish);
  void interrupt(std::uint64_t ticket);

  /// Lets work() end: before its next step, or the next look at a gate. False if it has
  /// not by when the Forward that it is in should be done: then it is to be left alone,
  /// and touches nothing of the actor system any more.
  [[nodiscard]] bool end();

  /// As whom it speaks to its host.
  rt::actor_tag tag() const {
    return tag_;
  }

private:
  using moment = std::chrono::nanoseconds;

  /// What must not be used once the host has ended.
  struct ties {
    ties(const rt::world& in, engine_actor to)
      : door(in, "enginerun"), host(std::move(to)) {}
    rt::doorway door;
    engine_actor host;
  };

  std::optional<Msg<schema::Forward>> next();
  void run(const Msg<schema::Forward>& wish);
  void take_steps(forward_run& run, const gate_work& gates);
  bool wait_for(const gate_work& gates, std::uint32_t layer, moment& left);
  bool is_interrupted(std::uint64_t ticket) const;
  moment now() const;
  void answer(const Msg<schema::Forward>& wish, const run_record& record);

  const drive_train with_;
  sequence_table sequences_;

  mutable std::mutex mutex_; // of all that is below, but for the atomics
  std::condition_variable changed_;
  std::optional<ties> ties_;
  const rt::actor_tag tag_;
  std::deque<Msg<schema::Forward>> waiting_;
  std::optional<moment> due_; // when the Forward that it is in should be done
  bool is_over_ = false;      // work() has ended
  std::atomic<bool> ended_{false};
  std::array<std::atomic<std::uint64_t>, 2> interrupted_{}; // as many as are unanswered
  std::size_t interrupts_ = 0;
};

} // namespace perigee::engine_host
