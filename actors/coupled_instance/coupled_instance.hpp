/// \file
/// The coupled instance: computes prompts and answers them, on one engine.
#pragma once

#include "actors/coupled_instance/probe.hpp"
#include "actors/interfaces.hpp"
#include "actors/runtime/world.hpp"
#include "engine/engine.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace perigee::coupled {

struct options {
  node_index control{};                    ///< Where the conductor is.
  std::uint32_t engine = 0;                ///< Index of its engine's host on its node.
  std::string scheduler = "prefill_first"; ///< One of scheduler_names().
  std::uint32_t token_budget = 2048;       ///< Tokens that one batch feeds, at most.
  std::uint32_t sequences_max = 256;       ///< Served at once.
  std::uint32_t steps_max = 1; ///< Of one run, at most. 1: each token at once.
  bool keeps_prefixes = true;  ///< What was computed is found by who begins alike.

  std::size_t requests_max = 4096; ///< More are told `busy`.

  std::chrono::milliseconds join_limit{10'000};   ///< A Prompt waits for its Prefill.
  std::chrono::milliseconds memory_limit{60'000}; ///< What has ended is remembered.
  std::chrono::milliseconds report_every{100};    ///< At most.
};

/// As a journal keeps them: "control=0 engine=0 ...".
std::string to_string(const options& how);

/// Starts a coupled instance at `where`. Its engine, whose arena is `arena`, has a host
/// of its own; both end together. Counts into `counts`.
coupled_actor start(const rt::world& in, rt::place where, engine::arena_view arena,
                    options how,
                    std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::coupled
