/// \file
/// Between what engines say and its Cap'n Proto form.
#pragma once

#include "engine/sampling/sampling_params.hpp"
#include "engine/sampling/score.hpp"
#include "schemas/forward.capnp.h"

#include <chrono>
#include <vector>

namespace perigee::engine_host {

/// What came of a run so far, as plain values.
struct run_record {
  struct draw {
    std::uint64_t sequence = 0;
    engine::sampled what;
    bool stopped = false;
  };
  struct step {
    std::chrono::nanoseconds duration{};
    std::vector<draw> drawn;
  };
  struct scores {
    std::uint64_t sequence = 0;
    std::uint32_t first_position = 0;
    std::vector<engine::sampled> of;
  };

  std::uint64_t ticket = 0;
  schema::EngineFault fault = schema::EngineFault::NONE;
  std::vector<step> steps;
  std::vector<scores> scored;
};

engine::sampling_params to_sampling(schema::Sampling::Reader from);

void set_result(schema::RunResult::Builder to, const run_record& from);

/// Bytes that one token with `tops` likeliest ones takes in a message, at most.
constexpr std::size_t drawn_bytes(int tops) {
  return 64 + 8 * static_cast<std::size_t>(tops > 0 ? tops : 0);
}

} // namespace perigee::engine_host
