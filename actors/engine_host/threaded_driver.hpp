/// \file
/// threaded_driver: an engine on a thread of its own.
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
#include <thread>

namespace perigee::engine_host {

/// Its thread ends with it; its destructor waits for the step that the engine is in.
class threaded_driver final : public driver {
public:
  threaded_driver(const rt::world& in, engine_actor host, drive_train with);
  ~threaded_driver() override;

  void submit(const Msg<schema::Forward>& wish) override;
  void interrupt(std::uint64_t ticket) override;
  bool took(const Msg<schema::Ran>& ran) override;

private:
  void work();
  std::optional<Msg<schema::Forward>> next();
  void run(const Msg<schema::Forward>& wish);
  void take_steps(forward_run& run, const gate_work& gates);
  bool wait_for(const gate_work& gates, std::uint32_t layer,
                std::chrono::nanoseconds until);
  bool is_interrupted(std::uint64_t ticket) const;

  const drive_train with_;
  const engine_actor host_;
  rt::doorway door_; // the thread's
  sequence_table sequences_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Msg<schema::Forward>> waiting_;
  std::atomic<bool> ended_{false};
  std::array<std::atomic<std::uint64_t>, 2> interrupted_{}; // as many as are unanswered
  std::size_t interrupts_ = 0;
  std::thread thread_; // last: it uses all of the above
};

} // namespace perigee::engine_host
