/// \file
/// The model that a topology names, loaded, and engines for it.
#pragma once

#include "actors/cluster/topology.hpp"
#include "actors/conductor/cost_model.hpp"
#include "engine/chat/chat_template.hpp"
#include "engine/cpu/weights.hpp"
#include "engine/engine.hpp"
#include "engine/tokenizer/tokenizer.hpp"
#include "schemas/result.hpp"

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string>

namespace perigee::app {

/// Of one process; its engines share the weights.
struct model {
  std::shared_ptr<const engine::gguf::file> file;
  std::shared_ptr<const engine::tokenizer> words;
  std::shared_ptr<const engine::chat_template> talk; ///< Null: no chats are served.
  engine::end_texts ends;

  /// Null if every engine is modelled.
  std::shared_ptr<const engine::cpu::weights> weights;

  /// What engines of it say they run.
  engine::model_info info;

  /// How KV lies in the arenas of all its engines.
  engine::kv_layout layout;
};

/// What there is to know of a model without loading it. Its digest is not there.
struct model_outline {
  engine::model_info info;
  engine::kv_layout layout;
};

/// Of the model that `all` names. Fails with a sentence that names the file.
result<model_outline, std::string> read_outline(const cluster::topology& all);

/// Opens and loads what `all` names, and shows on the log how far that is. Fails with a
/// sentence that names the file.
result<model, std::string> load_model(const cluster::topology& all,
                                      spdlog::logger& log);

struct engine_wish {
  std::string engine;   ///< As the topology names it.
  std::string hardware; ///< Of a modelled one.
  std::uint64_t threads = 0;
  std::uint32_t arena_blocks = 0;
  std::uint32_t batch_tokens_max = 0;

  /// Where a real one's arena is from; empty: from the heap.
  std::function<std::shared_ptr<std::byte>(std::size_t bytes)> allocate{};
};

/// An engine of its own, with a fresh arena. Fails with a sentence.
result<std::shared_ptr<engine::engine>, std::string>
make_engine(const model& of, const cluster::topology& all, const engine_wish& what);

/// What the conductor predicts with.
conductor::cost_model to_cost_model(const cluster::cost_settings& from,
                                    const model& of);

/// How many blocks `bytes` are.
std::uint32_t blocks_of(const model& of, cluster::byte_size bytes);

} // namespace perigee::app
