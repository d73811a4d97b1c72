/// \file
/// The decode instance: answers many requests at once, token by token.
#pragma once

#include "actors/decode_instance/probe.hpp"
#include "actors/interfaces.hpp"
#include "actors/runtime/world.hpp"
#include "engine/engine.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace perigee::decode {

struct options {
  node_index control{};         ///< Where the conductor is.
  std::uint32_t engine = 0;     ///< Index of its engine's host on its node.
  std::uint64_t segment = 0;    ///< Under which its arena is registered.
  std::uint32_t batch_max = 64; ///< Sequences of one step, at most.
  std::uint32_t steps_max = 1;  ///< Of one run, at most. 1: each token at once.
  std::chrono::milliseconds tbt_limit{
    1'000}; ///< Between tokens, if a request has none.

  std::size_t requests_max = 4096; ///< More are told `busy`.
  std::size_t waiting_max = 1024;  ///< For blocks. More are told `busy`.

  std::chrono::milliseconds pool_limit{1'000};    ///< A shard may take to answer.
  std::chrono::milliseconds move_limit{5'000};    ///< A movement may take.
  std::chrono::milliseconds park_limit{10'000};   ///< To find room in the pool.
  std::chrono::milliseconds memory_limit{60'000}; ///< What has ended is remembered.
  std::chrono::milliseconds report_every{100};    ///< At most.
};

/// As a journal keeps them: "control=0 engine=0 ...".
std::string to_string(const options& how);

/// Starts a decode instance at `where`. Its engine, whose arena is `arena`, has a host
/// of its own; both end together. Counts into `counts`.
decode_actor start(const rt::world& in, rt::place where, engine::arena_view arena,
                   options how,
                   std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::decode
