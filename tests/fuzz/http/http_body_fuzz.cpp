#include "actors/gateway/answer_text.hpp"
#include "actors/gateway/http_request.hpp"
#include "actors/gateway/json_text.hpp"
#include "actors/gateway/preparation.hpp"
#include "actors/gateway/request_parser.hpp"
#include "schemas/assert.hpp"
#include "tests/actors/gateway/toy_model.hpp"

#include <cstdint>
#include <string_view>

// Whatever a client sends is read, and then within all limits, or refused with a reason
// that is JSON itself. The first byte says what the others are.

namespace {

using namespace perigee::gateway;

const served_model& toy() {
  static const served_model model = perigee::test::toy_model(512);
  return model;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    auto length = utf8_length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

void judge(const api_error& why) {
  PERIGEE_ASSERT(!why.message.empty(), "refused without a reason");
  PERIGEE_ASSERT(is_utf8(to_json(why)), "a reason that is no text");
}

void judge(const api_request& asked) {
  auto limits = limits_of(toy());
  PERIGEE_ASSERT(!asked.prompts.empty() && asked.choices() <= limits.choices_max,
                 "a request for too much");
  PERIGEE_ASSERT(!perigee::engine::find_param_fault(asked.sampling, limits.vocabulary),
                 "a parameter out of its range");
  PERIGEE_ASSERT(asked.stops.size() <= limits.stops_max, "too many stop strings");
  auto ready = prepare(asked, toy());
  if (!ready)
    return judge(ready.error());
  for (const auto& one : ready->prompts) {
    PERIGEE_ASSERT(one.tokens.size() + one.tokens_max <= toy().context_tokens_max,
                   "more than the context");
    PERIGEE_ASSERT(one.chain.size() == one.tokens.size() / 16, "a key for each block");
  }
}

template <class Read>
void judge_result(const Read& got) {
  if (!got)
    judge(got.error());
}

template <>
void judge_result(const api_result<api_request>& got) {
  got ? judge(*got) : judge(got.error());
}

/// A target, then lines of headers.
void judge_head(std::string_view text) {
  auto line = text.substr(0, text.find('\n'));
  static_cast<void>(find_destination(line));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  http_call call;
  auto read = read_headers(
    call, [&](auto) { return text; }, "id");
  if (!read)
    judge(read.error());
  static_cast<void>(is_json_type(text));
  static_cast<void>(preflight_fields("GET", text));
  static_cast<void>(is_authorized(text, std::vector<std::string>{"key"}));
}

/// Bytes of tokens, each three long, with a stop string of the first two bytes.
void judge_text(std::string_view text) {
  if (text.size() < 2 || !is_utf8(text.substr(0, 2)))
    return;
  std::string stop{text.substr(0, 2)};
  answer_text answer{{stop}, true};
  std::string out;
  for (std::size_t at = 2; at < text.size() && !answer.stopped(); at += 3) {
    answer.push(text.substr(at, 3));
    auto piece = answer.take().text;
    PERIGEE_ASSERT(is_utf8(piece), "a piece that is not whole characters");
    out += piece;
  }
  answer.finish();
  out += answer.take().text;
  PERIGEE_ASSERT(is_utf8(out), "an end that is not whole characters");
  PERIGEE_ASSERT(out.find(stop) == std::string::npos, "a stop string came through");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  auto limits = limits_of(toy());
  switch (data[0]) {
    case 'c': judge_result(parse_chat(text, limits)); break;
    case 'p': judge_result(parse_completion(text, limits)); break;
    case 't': judge_result(parse_tokenize(text, limits)); break;
    case 'd': judge_result(parse_detokenize(text, limits)); break;
    case 'h': judge_head(text); break;
    case 's': judge_text(text); break;
    default: break;
  }
  return 0;
}
