/// \file
/// engine: runs forward passes over an arena of KV blocks.
#pragma once

#include "engine/kv_layout.hpp"
#include "engine/model_info.hpp"
#include "engine/sampling/sampler.hpp"
#include "schemas/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace perigee::engine {

/// One sequence's part of a batch: tokens to feed, at consecutive positions.
///
/// - `tokens`, [n] with n >= 1:
///   each below model_info::vocabulary;
/// - `blocks`, [>= needed]:
///   the sequence's block table from position 0 on: position p lies in
///   blocks[p / block_tokens];
/// - `pick`, 0 or 1:
///   draws what follows the last of `tokens`; null if that is not wanted;
/// - `drawn`, 0 or 1:
///   out; set if `pick` is;
/// - `on_logits`, 0 or 1: called once for each of `tokens`, in order, with its
///   position and a row [vocabulary] that is valid during the call.
///
/// K and V of every earlier position must be in the arena already; those of `tokens`
/// are written there. Two slices of a batch never write the same block; they may read
/// it.
struct slice {
  std::span<const token_id> tokens;
  std::uint32_t first_position = 0;
  std::span<const std::uint32_t> blocks;
  sampler* pick = nullptr;
  sampled* drawn = nullptr;
  std::function<void(std::uint32_t position, std::span<const float> logits)> on_logits;
};

/// Called by the thread that is in run().
struct layer_hooks {
  /// Before a layer reads the arena. False: what it needs will not come; run() stops.
  std::function<bool(std::uint32_t layer)> before;

  /// After K and V of all slices were written to the arena in `layer`, and will not
  /// change.
  std::function<void(std::uint32_t layer)> after;
};

/// Why a batch was not run to its end. What it was to write in the arena is undefined
/// then; all else is untouched, and the engine may be used on.
enum class run_fault : std::uint8_t {
  bad_batch
  = 1,     ///< A token, position or block out of range; found before anything ran.
  starved, ///< A `before` hook said no.
  device,  ///< The device failed.
};

/// The arena of an engine: `blocks` blocks of `layout`, at `base`, for as long as the
/// engine lives. `base` is null if the engine moves no bytes.
struct arena_view {
  std::byte* base = nullptr;
  std::uint32_t blocks = 0;
  kv_layout layout;

  std::size_t bytes() const {
    return std::size_t{blocks} * layout.block_bytes();
  }
};

/// Runs batches of one model. One owner, who calls run() from one thread at a time.
///
/// **Same tokens.** What a slice gives depends on its own tokens, positions, KV and
/// sampler alone: not on its company, nor on how its sequence was cut into slices, nor
/// on the number of threads or the width of vectors.
class engine {
public:
  virtual ~engine() = default;

  virtual const model_info& model() const = 0;
  virtual arena_view arena() const = 0;

  /// Most tokens that one batch may feed, over all slices.
  virtual std::uint32_t batch_tokens_max() const = 0;

  /// Feeds `batch`, and returns once every slice has been fed and drawn for.
  virtual result<void, run_fault> run(std::span<slice> batch, const layer_hooks& hooks)
    = 0;

  /// What run() would take on the hardware that is modelled. Only modelled engines
  /// know: others answer 0.
  virtual std::chrono::nanoseconds cost(std::span<const slice>) const {
    return {};
  }
};

} // namespace perigee::engine
