#include "actors/gateway/api_error.hpp"

#include "actors/gateway/json_text.hpp"
#include "schemas/assert.hpp"

#include <array>

namespace perigee::gateway {
namespace {

constexpr std::string_view invalid = "invalid_request_error";
constexpr std::string_view overloaded = "overloaded_error";
constexpr std::string_view server = "server_error";
constexpr std::string_view unavailable = "service_unavailable_error";

using enum api_code;

constexpr std::array all{
  api_code_info{bad_http, "bad_http", 400, invalid, "the request is not valid HTTP"},
  api_code_info{invalid_header, "invalid_header", 400, invalid,
                "a header that is understood has a value that is not"},
  api_code_info{invalid_json, "invalid_json", 400, invalid,
                "the body is not JSON in UTF-8, or nests too deeply"},
  api_code_info{missing_parameter, "missing_parameter", 400, invalid,
                "a required parameter is absent"},
  api_code_info{unknown_parameter, "unknown_parameter", 400, invalid,
                "no parameter has this name"},
  api_code_info{unsupported_parameter, "unsupported_parameter", 400, invalid,
                "the parameter, or this value of it, is known and not supported"},
  api_code_info{invalid_type, "invalid_type", 400, invalid,
                "a parameter has the wrong JSON type"},
  api_code_info{invalid_value, "invalid_value", 400, invalid,
                "a parameter is out of its range, or contradicts another"},
  api_code_info{context_length_exceeded, "context_length_exceeded", 400, invalid,
                "prompt and max_tokens exceed the model's context"},
  api_code_info{invalid_api_key, "invalid_api_key", 401, "authentication_error",
                "the Bearer token is absent or none of the server's"},
  api_code_info{not_found, "not_found", 404, invalid, "nothing has this path"},
  api_code_info{model_not_found, "model_not_found", 404, invalid,
                "the model is not served here"},
  api_code_info{method_not_allowed, "method_not_allowed", 405, invalid,
                "the path does not take this method; `Allow` lists those it takes"},
  api_code_info{request_timeout, "request_timeout", 408, invalid,
                "header or body did not arrive in time"},
  api_code_info{body_too_large, "body_too_large", 413, invalid,
                "the body exceeds the server's limit"},
  api_code_info{unsupported_media_type, "unsupported_media_type", 415, invalid,
                "`Content-Type` is not application/json in UTF-8"},
  api_code_info{expectation_failed, "expectation_failed", 417, invalid,
                "`Expect` asks for what the server does not do"},
  api_code_info{header_too_large, "header_too_large", 431, invalid,
                "request line and headers exceed the server's limit"},
  api_code_info{queue_full, "queue_full", 429, overloaded,
                "a queue on the request's path is full"},
  api_code_info{rejected_prefill, "rejected_prefill", 429, overloaded,
                "the TTFT objective could not be met: prefill is loaded"},
  api_code_info{rejected_decode, "rejected_decode", 429, overloaded,
                "the TBT objective could not be met: decode is loaded"},
  api_code_info{rejected_handoff, "rejected_handoff", 429, overloaded,
                "decode became too loaded while the prompt was prefilled"},
  api_code_info{internal_error, "internal_error", 500, server,
                "a fault of the server's own; its log has the cause"},
  api_code_info{actor_lost, "actor_lost", 500, server,
                "an actor that served the request was lost"},
  api_code_info{engine_failed, "engine_failed", 500, server,
                "the engine or a transfer failed"},
  api_code_info{not_ready, "not_ready", 503, unavailable,
                "the cluster is starting, stopping, or has no instance to serve"},
  api_code_info{too_many_connections, "too_many_connections", 503, unavailable,
                "the server has as many connections as it takes"},
  api_code_info{deadline_exceeded, "deadline_exceeded", 504, "timeout_error",
                "the request's time was over"},
};

} // namespace

std::span<const api_code_info> api_codes() {
  return all;
}

const api_code_info& info_of(api_code code) {
  const auto& found = all.at(static_cast<std::size_t>(code));
  PERIGEE_ASSERT(found.code == code, "the table of codes is in the enum's order");
  return found;
}

std::string to_json(const api_error& why) {
  const auto& info = info_of(why.code);
  std::string out = R"({"error":{"message":)";
  append_json_string(out, why.message);
  out += R"(,"type":)";
  append_json_string(out, info.type);
  out += R"(,"param":)";
  if (why.param.empty())
    out += "null";
  else
    append_json_string(out, why.param);
  out += R"(,"code":)";
  append_json_string(out, info.text);
  return out += "}}";
}

} // namespace perigee::gateway
