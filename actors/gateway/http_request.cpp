#include "actors/gateway/http_request.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace perigee::gateway {
namespace {

constexpr std::size_t request_id_bytes_max = 128;
constexpr double objective_ms_max = 86'400'000; // a day

int hex_of(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

std::optional<std::string> without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex_of(text[i + 1]) < 0 || hex_of(text[i + 2]) < 0)
      return {};
    out += static_cast<char>(hex_of(text[i + 1]) * 16 + hex_of(text[i + 2]));
    i += 2;
  }
  return out;
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > 32 && c < 127; });
}

api_error bad_header(std::string_view name, std::string_view expected) {
  return {api_code::invalid_header,
          "header `" + std::string{name} + "` must be " + std::string{expected},
          std::string{name},
          {}};
}

api_result<std::chrono::nanoseconds> objective(std::string_view name,
                                               std::string_view text) {
  if (text.empty())
    return std::chrono::nanoseconds{};
  double ms = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error != std::errc{} || end != text.data() + text.size() || !(ms > 0)
      || !(ms <= objective_ms_max))
    return failure(bad_header(name, "a number of milliseconds above 0, up to a day"));
  return std::chrono::nanoseconds{std::llround(ms * 1e6)};
}

std::optional<std::uint64_t> hex_word(std::string_view text) {
  std::uint64_t word = 0;
  for (char c : text) {
    if (hex_of(c) < 0 || (c >= 'A' && c <= 'F'))
      return {};
    word = word << 4 | static_cast<std::uint64_t>(hex_of(c));
  }
  return word;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

std::string_view trimmed(std::string_view text) {
  auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// The path of `http://host/path`; other targets as they are.
std::string_view without_authority(std::string_view target) {
  for (std::string_view scheme : {"http://", "https://"})
    if (is_same_word(target.substr(0, scheme.size()), scheme)) {
      auto path = target.find_first_of("/?", scheme.size());
      return path == std::string_view::npos ? "/" : target.substr(path);
    }
  return target;
}

bool names_other_charset(std::string_view parameter) {
  auto equals = parameter.find('=');
  if (equals == std::string_view::npos
      || !is_same_word(trimmed(parameter.substr(0, equals)), "charset"))
    return false;
  auto value = trimmed(parameter.substr(equals + 1));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return !is_same_word(value, "utf-8");
}

/// A bad traceparent is to be ignored, says the standard, and a new trace begun.
trace_id read_trace(std::string_view text) {
  if (text.size() < 55 || text[2] != '-' || text[35] != '-' || text.starts_with("ff"))
    return {};
  auto high = hex_word(text.substr(3, 16));
  auto low = hex_word(text.substr(19, 16));
  return high && low ? trace_id{*high, *low} : trace_id{};
}

using digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

digest digest_of(std::string_view text) {
  digest out;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data());
  return out;
}

bool is_header_list(std::string_view text) {
  return text.size() <= 2048 && std::all_of(text.begin(), text.end(), [](char c) {
           return c == ' ' || c == ',' || c == '-' || c == '_' || hex_of(c) >= 0
                  || (c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z');
         });
}

} // namespace

bool is_same_word(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::optional<destination> find_destination(std::string_view target) {
  static const std::map<std::string_view, destination> paths{
    {"/v1/chat/completions", {route::chat, {}, true, true}},
    {"/v1/completions", {route::completion, {}, true, true}},
    {"/v1/models", {route::models, {}, false, true}},
    {"/tokenize", {route::tokenize, {}, true, true}},
    {"/detokenize", {route::detokenize, {}, true, true}},
    {"/health", {route::health, {}, false, false}},
    {"/ready", {route::ready, {}, false, false}},
    {"/live", {route::live, {}, false, false}},
    {"/version", {route::version, {}, false, false}},
    {"/metrics", {route::metrics, {}, false, false}},
  };
  target = without_authority(target);
  auto path = target.substr(0, target.find('?'));
  if (auto found = paths.find(path); found != paths.end())
    return found->second;
  constexpr std::string_view one_model = "/v1/models/";
  if (path.starts_with(one_model) && path.size() > one_model.size())
    if (auto name = without_escapes(path.substr(one_model.size())))
      return destination{route::model, *name, false, true};
  return {};
}

std::string_view methods_of(const destination& to) {
  return to.is_post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
}

bool takes(const destination& to, std::string_view method) {
  return to.is_post ? method == "POST" : method == "GET" || method == "HEAD";
}

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= request_id_bytes_max && is_visible(text);
}

api_result<void> read_headers(http_call& call, const header_lookup& header,
                              std::string fallback_id) {
  auto id = header("x-request-id");
  if (!id.empty() && !is_request_id(id))
    return failure(
      bad_header("x-request-id", "at most 128 visible ASCII characters long"));
  call.request_id = id.empty() ? std::move(fallback_id) : std::string{id};
  call.trace = read_trace(header("traceparent"));
  auto ttft = objective("x-slo-ttft-ms", header("x-slo-ttft-ms"));
  if (!ttft)
    return failure(ttft.error());
  auto tpot = objective("x-slo-tpot-ms", header("x-slo-tpot-ms"));
  if (!tpot)
    return failure(tpot.error());
  call.ttft_limit = *ttft;
  call.tpot_limit = *tpot;
  return {};
}

bool is_json_type(std::string_view content_type) {
  auto end = std::min(content_type.find(';'), content_type.size());
  if (!is_same_word(trimmed(content_type.substr(0, end)), "application/json"))
    return false;
  while (end < content_type.size()) {
    auto next = std::min(content_type.find(';', end + 1), content_type.size());
    if (names_other_charset(content_type.substr(end + 1, next - end - 1)))
      return false;
    end = next;
  }
  return true;
}

bool is_authorized(std::string_view authorization, std::span<const std::string> keys) {
  constexpr std::string_view scheme = "Bearer ";
  bool is_bearer = authorization.starts_with(scheme);
  auto given = digest_of(is_bearer ? authorization.substr(scheme.size()) : "");
  int matches = 0;
  for (const auto& key : keys)
    matches |= CRYPTO_memcmp(given.data(), digest_of(key).data(), given.size()) == 0;
  return is_bearer && matches != 0;
}

std::vector<std::pair<std::string, std::string>>
cors_fields(std::string_view origin, std::span<const std::string> allowed) {
  if (origin.empty())
    return {};
  for (const auto& one : allowed) {
    if (one == "*")
      return {{"Access-Control-Allow-Origin", "*"},
              {"Access-Control-Expose-Headers", "x-request-id, Retry-After"}};
    if (one == origin)
      return {{"Access-Control-Allow-Origin", one},
              {"Access-Control-Expose-Headers", "x-request-id, Retry-After"},
              {"Vary", "Origin"}};
  }
  return {};
}

std::vector<std::pair<std::string, std::string>>
preflight_fields(std::string_view methods, std::string_view requested_headers) {
  std::vector<std::pair<std::string, std::string>> fields{
    {"Access-Control-Allow-Methods", std::string{methods}},
    {"Access-Control-Max-Age", "600"}};
  if (!requested_headers.empty() && is_header_list(requested_headers))
    fields.emplace_back("Access-Control-Allow-Headers", requested_headers);
  return fields;
}

http_answer to_answer(const api_error& why) {
  http_answer answer{why.status(), to_json(why)};
  if (why.status() == 429) {
    answer.fields.emplace_back("Retry-After",
                               std::to_string(why.retry_in_s.value_or(1)));
    answer.fields.emplace_back("x-request-dropped-reason", info_of(why.code).text);
  } else if (why.retry_in_s) {
    answer.fields.emplace_back("Retry-After", std::to_string(*why.retry_in_s));
  }
  if (why.code == api_code::invalid_api_key)
    answer.fields.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

} // namespace perigee::gateway
