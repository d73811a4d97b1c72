/// \file
/// The prefill group: computes prompts, and hands them to decode instances.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/prefill_group/probe.hpp"
#include "actors/runtime/world.hpp"
#include "engine/engine.hpp"
#include "transport/gate_board.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace perigee::prefill {

struct options {
  node_index control{};             ///< Where the conductor is.
  std::uint32_t engine = 0;         ///< Index of its engine's host on its node.
  std::uint64_t segment = 0;        ///< Under which its arena is registered.
  std::uint32_t chunk_tokens = 256; ///< Of one Forward, at most; at least 2.

  /// Whether a layer is computed once its own reused KV is here, and its new KV sent on
  /// while later layers compute. If not: all is loaded, then computed, then stored.
  bool layer_wise = true;

  std::size_t requests_max = 4096; ///< More are told `busy`.
  std::size_t waiting_max = 1024;  ///< For blocks. More are told `busy`.

  std::chrono::milliseconds join_limit{10'000}; ///< A Prompt waits for its Prefill.
  std::chrono::milliseconds pool_limit{1'000};  ///< A shard may take to answer.
  std::chrono::milliseconds move_limit{5'000};  ///< A movement may take.
  std::chrono::milliseconds handoff_grace{
    1'000}; ///< An answer to a Handoff may be late.
  std::chrono::milliseconds memory_limit{60'000}; ///< What has ended is remembered.
  std::chrono::milliseconds report_every{100};    ///< At most.
};

/// As a journal keeps them: "control=0 engine=0 ...".
std::string to_string(const options& how);

/// Starts a prefill group at `where`. Its engine, whose arena is `arena`, has a host of
/// its own; both end together. `gates` is the process's board. Counts into `counts`.
prefill_actor start(const rt::world& in, rt::place where, engine::arena_view arena,
                    std::shared_ptr<transport::gate_board> gates, options how,
                    std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::prefill
