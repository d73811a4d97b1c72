/// \file
/// served_model: what the gateway knows of the model that the cluster runs.
#pragma once

#include "actors/gateway/api_request.hpp"
#include "engine/chat/chat_template.hpp"
#include "engine/kv_layout.hpp"
#include "engine/model_info.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace perigee::gateway {

/// Immutable while it is served; any thread may read it.
struct served_model {
  std::string name; ///< As clients call it.
  engine::model_info info;
  engine::kv_layout layout;             ///< Of the blocks that keys are for.
  std::uint32_t context_tokens_max = 0; ///< Prompt and answer together; not 0.

  std::shared_ptr<const engine::tokenizer> words;
  std::shared_ptr<const engine::chat_template> talk; ///< Null: no chats are served.
  engine::end_texts ends;
};

api_limits limits_of(const served_model& model);

} // namespace perigee::gateway
