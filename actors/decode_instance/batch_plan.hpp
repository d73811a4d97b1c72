/// \file
/// batch_plan: who takes the next steps, and who must leave the arena for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace perigee::decode {

/// A sequence that could take a step.
struct candidate {
  std::uint64_t request = 0;
  std::uint32_t kv_tokens = 0;
  std::uint32_t steps_left = 0; ///< At least 1.
  std::uint32_t blocks = 0;     ///< That it has.
  std::size_t news_bytes = 0;   ///< To tell an engine of it; 0 if it knows it.
};

struct batch_limits {
  std::uint32_t block_tokens = 16;
  std::size_t batch_max = 1;   ///< Sequences of one step.
  std::uint32_t steps_max = 1; ///< Of one run.
  std::size_t blocks_free = 0;
  std::size_t blocks_coming = 0; ///< Of those who are leaving the arena.

  /// Of all whom the engine does not know yet. One alone may have more.
  std::size_t news_bytes_max = SIZE_MAX;
};

struct batch {
  std::vector<std::uint64_t> run;  ///< Oldest first.
  std::uint32_t steps = 0;         ///< That all of them have blocks for, once grown.
  std::vector<std::uint64_t> park; ///< Must leave, the youngest first.
};

/// What to do with `all`, oldest first. The oldest run. If there aren't enough blocks
/// for all who should, the youngest of all leave, until there will be enough for the
/// others; meanwhile the oldest of them run that can.
///
/// Of those whom the engine does not know yet, the oldest run whose news are few enough
/// together; the others do when it knows those.
///
/// The oldest is never told to leave: if it alone can't run, and nobody leaves, there
/// are no blocks for it.
///
/// Pure. Cost: a few walks over `all`.
batch plan_batch(std::span<const candidate> all, const batch_limits& limits);

/// Blocks that `one` lacks for `steps` steps, or for as many as it has left.
std::size_t blocks_lacking(const candidate& one, std::uint32_t steps,
                           std::uint32_t block_tokens);

} // namespace perigee::decode
