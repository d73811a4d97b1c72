/// \file
/// The engine host: the actor that owns one engine.
#pragma once

#include "actors/engine_host/pace.hpp"
#include "actors/engine_host/probe.hpp"
#include "actors/interfaces.hpp"
#include "actors/runtime/world.hpp"
#include "engine/engine.hpp"
#include "transport/gate_board.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace perigee::engine_host {

/// How the engine gets its time.
enum class driving : std::uint8_t {
  threaded, ///< A thread of its own: for engines that really compute.
  timed,    ///< Within the actor, by the engine's cost(): for virtual time, and models.
};

struct options {
  driving how = driving::threaded;

  /// How long the layers of one Forward may wait for their gates, all together.
  std::chrono::milliseconds gate_limit{10'000};

  /// How long a thread may take over one Forward, gates and all. Then its engine is
  /// given up: open Forwards are answered with a fault, and the host ends.
  std::chrono::milliseconds run_limit{300'000};

  /// Sequences that may have begun and not ended.
  std::uint64_t sequences_max = 65'536;

  /// Of a timed engine.
  std::vector<slow_spell> slow_spells{};
};

/// As a journal keeps them: "how=threaded gate_limit_ms=10000 ...".
std::string to_string(const options& how);

/// Starts the host of `runs` at `where`. Owner and host are one unit: they end
/// together. `gates` is the process's board. Counts into `counts`.
engine_actor start(const rt::world& in, rt::place where,
                   std::shared_ptr<engine::engine> runs,
                   std::shared_ptr<transport::gate_board> gates, options how = {},
                   std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::engine_host
