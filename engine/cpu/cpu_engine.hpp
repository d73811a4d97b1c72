/// \file
/// cpu_engine: an engine that runs models from GGUF files on processors.
#pragma once

#include "engine/cpu/weights.hpp"
#include "engine/engine.hpp"
#include "schemas/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace perigee::engine::cpu {

struct engine_options {
  std::size_t threads = 1; ///< The one that calls run() among them.
  bool pin = false;        ///< Helpers to processors that are idle now.
  std::uint32_t arena_blocks = 1024;
  std::uint32_t block_tokens = 16; ///< From 8 to 4096.
  kv_type kv = kv_type::f16;
  std::uint32_t batch_tokens_max = 2048;

  /// "portable", "avx2", "avx512"; empty: the fastest that runs here. All give the same
  /// bits.
  std::string kernels;

  /// Where the arena's memory is from: zeros, aligned to pages, or null if there is
  /// none. Empty: from the heap.
  std::function<std::shared_ptr<std::byte>(std::size_t bytes)> allocate{};
};

struct option_fault {
  std::string option;   ///< As the member is called.
  std::string expected; ///< And what was found.
};

/// Allocates the arena and the engine's own memory, and starts its threads; they end
/// with it. The weights may be shared with other engines.
result<std::unique_ptr<engine>, option_fault>
make_engine(std::shared_ptr<const weights> model, const engine_options& options);

/// Of the arena's memory. For who sizes it before it is made.
kv_layout layout_of(const weights& model, const engine_options& options);

} // namespace perigee::engine::cpu
