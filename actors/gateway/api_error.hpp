/// \file
/// api_error: what an HTTP client is told in place of an answer.
#pragma once

#include "schemas/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace perigee::gateway {

/// One code for each thing a client can do about it. Their texts are stable: clients
/// compare them. The table is in README.md; a test compares the two.
enum class api_code : std::uint8_t {
  bad_http,
  invalid_header,
  invalid_json,
  missing_parameter,
  unknown_parameter,
  unsupported_parameter,
  invalid_type,
  invalid_value,
  context_length_exceeded,
  invalid_api_key,
  not_found,
  model_not_found,
  method_not_allowed,
  request_timeout,
  body_too_large,
  unsupported_media_type,
  expectation_failed,
  header_too_large,
  queue_full,
  rejected_prefill,
  rejected_decode,
  rejected_handoff,
  internal_error,
  actor_lost,
  engine_failed,
  not_ready,
  too_many_connections,
  deadline_exceeded,
};

struct api_code_info {
  api_code code;
  std::string_view text;
  int status;
  std::string_view type; ///< As the OpenAI API groups errors.
  std::string_view meaning;
};

/// All there are, in the order of the enum.
std::span<const api_code_info> api_codes();
const api_code_info& info_of(api_code code);

struct api_error {
  api_code code{};
  std::string message; ///< For a person: what is wrong, what would do.
  std::string param;   ///< Such as `messages[1].role`; may be empty.
  std::optional<std::int64_t> retry_in_s; ///< For the header Retry-After.

  int status() const {
    return info_of(code).status;
  }
};

/// `{"error": {"message", "type", "param", "code"}}`; an empty `param` is null.
std::string to_json(const api_error& why);

template <class T>
using api_result = result<T, api_error>;

} // namespace perigee::gateway
