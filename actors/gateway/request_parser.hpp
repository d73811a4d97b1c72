/// \file
/// Reads the bodies of API requests.
#pragma once

#include "actors/gateway/api_error.hpp"
#include "actors/gateway/api_request.hpp"

#include <string_view>

namespace perigee::gateway {

/// The body of `POST /v1/chat/completions`.
///
/// What comes back was judged in full, but for what takes a tokenizer: the prompt's
/// length against the context. An error names the parameter by its path, as in
/// `messages[2].content[0].type`. A parameter that is known and not supported is
/// refused unless its value asks for nothing; one that is not known is refused. Null is
/// absent.
///
/// Pure, thread-safe, throws nothing. Cost: linear in the body.
api_result<api_request> parse_chat(std::string_view body, const api_limits& limits);

/// The body of `POST /v1/completions`. As parse_chat().
api_result<api_request> parse_completion(std::string_view body,
                                         const api_limits& limits);

/// Whether `model`, as a client named it, is the one that is served.
api_result<void> judge_model(std::string_view model, const api_limits& limits);

/// The body of `POST /tokenize`: `prompt` or `messages`.
api_result<tokenize_request> parse_tokenize(std::string_view body,
                                            const api_limits& limits);

/// The body of `POST /detokenize`: `tokens`.
api_result<detokenize_request> parse_detokenize(std::string_view body,
                                                const api_limits& limits);

} // namespace perigee::gateway
