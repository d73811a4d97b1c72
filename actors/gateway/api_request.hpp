/// \file
/// api_request: what a client asked for, as plain values.
#pragma once

#include "engine/sampling/sampling_params.hpp"
#include "schemas/vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace perigee::gateway {

using engine::token_id;
using token_list = std::vector<token_id>;

/// One turn of a chat. Roles: system, user, assistant.
struct chat_turn {
  std::string role;
  std::string text;
};
using dialogue = std::vector<chat_turn>;

/// A prompt as the client gave it.
using prompt_form = std::variant<std::string, token_list, dialogue>;

enum class api_kind : std::uint8_t { completion, chat };

struct api_request {
  api_kind kind = api_kind::completion;
  std::string model;                ///< Empty: the one that is served.
  std::vector<prompt_form> prompts; ///< At least one; of a chat, exactly one.

  std::uint32_t n = 1; ///< Answers to each prompt.

  /// The prompt's text comes before the answer's; with its logprobs, if any are wanted.
  bool echo = false;

  /// Most tokens of an answer; absent: preparation.hpp says.
  std::optional<std::uint32_t> tokens_max;
  engine::sampling_params sampling; ///< Its seed is to be used if `seeded`.
  bool seeded = false;
  bool ignore_eos = false;
  std::vector<std::string> stops;

  bool stream = false;
  bool include_usage = false;

  std::string cache_salt; ///< Prefixes are shared only under the same salt.
  std::string user;

  std::size_t choices() const {
    return prompts.size() * n;
  }
};

struct tokenize_request {
  std::string model;
  prompt_form prompt; ///< Text or a chat.
  bool add_special_tokens = true;
};

struct detokenize_request {
  std::string model;
  token_list tokens;
};

/// What a request is judged by.
struct api_limits {
  std::string model; ///< The name of the model that is served.
  std::uint32_t vocabulary = 0;

  std::size_t turns_max = 4096;
  std::size_t parts_max = 4096; ///< Of one turn's content.
  std::size_t prompts_max = 64;
  std::size_t choices_max = 64; ///< Prompts times `n`.
  std::size_t stops_max = 16;
  std::size_t stop_bytes_max = 256;
  std::size_t stop_tokens_max
    = 192; ///< A message has room for the model's own besides.
  std::size_t label_bytes_max = 256; ///< Of `user` and `cache_salt`.
};

/// Answer tokens of a completion whose request has no `max_tokens`, as in the OpenAI
/// API.
inline constexpr std::uint32_t completion_tokens_default = 16;

/// How deep arrays and objects of a body may nest.
inline constexpr std::size_t body_depth_max = 16;

} // namespace perigee::gateway
