/// \file
/// driver: how an engine host runs its engine.
#pragma once

#include "actors/engine_host/pace.hpp"
#include "actors/interfaces.hpp"
#include "engine/engine.hpp"
#include "transport/gate_board.hpp"

#include <memory>

namespace spdlog {
class logger;
}

namespace perigee::engine_host {

/// Runs Forwards, in the order in which they come, and tells its host of each by a Ran.
/// Called by the host's actor alone.
class driver {
public:
  virtual ~driver() = default;

  /// At most two may be unanswered.
  virtual void submit(const Msg<schema::Forward>& wish) = 0;

  /// Ends the run after the step that it is in; the first, if it has not begun.
  virtual void interrupt(std::uint64_t ticket) = 0;

  /// Whether `ran` answers the oldest Forward. If not, it was for the driver alone, or
  /// from somebody else.
  virtual bool took(const Msg<schema::Ran>& ran) = 0;

  /// Whether the engine has been longer over a Forward than it may. It may never come
  /// back, and is to be given up.
  virtual bool is_silent() const {
    return false;
  }
};

/// What drives an engine, and where its gates are.
struct drive_train {
  std::shared_ptr<engine::engine> runs;
  std::shared_ptr<transport::gate_board> gates;
  std::shared_ptr<spdlog::logger> log;
  std::chrono::nanoseconds gate_limit; ///< How long one Forward may wait for its gates.
  std::chrono::nanoseconds run_limit;  ///< How long it may take, gates and all.
  std::size_t sequences_max;
  pace speed{}; ///< Of a timed engine.
};

} // namespace perigee::engine_host
