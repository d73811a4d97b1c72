/// \file
/// threaded_driver: an engine on a thread of its own.
#pragma once

#include "actors/engine_host/engine_thread.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"

#include <thread>

namespace perigee::engine_host {

/// Its thread ends with it: its destructor waits for the step that the engine is in,
/// but not past the limit of a run. A thread that is late then is left alone with its
/// engine.
class threaded_driver final : public driver {
public:
  threaded_driver(const rt::world& in, engine_actor host, rt::desk<engine_actor>& desk,
                  drive_train with);
  ~threaded_driver() override;

  void submit(const Msg<schema::Forward>& wish) override;
  void interrupt(std::uint64_t ticket) override;
  bool took(const Msg<schema::Ran>& ran) override;
  bool is_silent() const override {
    return is_silent_;
  }

private:
  void wake_at(std::chrono::nanoseconds due, std::uint64_t epoch);
  void watch();

  const engine_actor host_;
  rt::desk<engine_actor>& desk_;
  const std::chrono::nanoseconds run_limit_;
  const std::shared_ptr<spdlog::logger> log_;
  std::size_t unanswered_ = 0;
  std::uint64_t runs_ = 0;                         // of which the last is watched
  rt::pending_table<std::uint64_t, char> watched_; // the oldest that is unanswered
  bool is_silent_ = false;
  std::shared_ptr<engine_thread> shared_;
  std::thread thread_;
};

} // namespace perigee::engine_host
