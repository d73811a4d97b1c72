#include "apps/perigee/bench_serve_answer.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace perigee::app {
namespace {

namespace json = boost::json;

constexpr std::size_t line_bytes_max = std::size_t{1} << 20;
constexpr std::size_t code_bytes_max = 64;

std::optional<json::object> object_in(std::string_view text) {
  boost::system::error_code wrong;
  auto value = json::parse({text.data(), text.size()}, wrong);
  if (wrong || !value.is_object())
    return std::nullopt;
  return std::move(value.as_object());
}

const json::object* object_at(const json::object& in, const char* name) {
  auto* value = in.if_contains(name);
  return value ? value->if_object() : nullptr;
}

std::uint32_t count_at(const json::object* in, const char* name) {
  auto* value = in ? in->if_contains(name) : nullptr;
  boost::system::error_code wrong;
  auto count = value ? value->to_number<std::uint32_t>(wrong) : 0;
  return wrong ? 0 : count;
}

/// `code`, or the next best that a server may have said.
std::string code_in(const json::object& error) {
  for (const char* name : {"code", "type"})
    if (auto* value = error.if_contains(name); value && value->is_string()) {
      const auto& text = value->get_string();
      return {text.data(), std::min<std::size_t>(text.size(), code_bytes_max)};
    }
  return "unnamed_error";
}

} // namespace

bool streamed_answer::take(std::string_view bytes, nanoseconds now) {
  for (;;) {
    auto end = bytes.find('\n');
    if (rest_.size() + std::min(end, bytes.size()) > line_bytes_max)
      return false;
    rest_ += bytes.substr(0, end);
    if (end == std::string_view::npos)
      return true;
    bytes.remove_prefix(end + 1);
    if (rest_.ends_with('\r'))
      rest_.pop_back();
    if (!take_line(rest_, now))
      return false;
    rest_.clear();
  }
}

bool streamed_answer::take_line(std::string_view line, nanoseconds now) {
  constexpr std::string_view mark = "data:";
  if (!line.starts_with(mark))
    return line.empty() || line.front() == ':' || line.find(':') != line.npos;
  line.remove_prefix(mark.size());
  if (line.starts_with(' '))
    line.remove_prefix(1);
  if (line != "[DONE]")
    return take_event(line, now);
  is_done_ = true;
  return true;
}

bool streamed_answer::take_event(std::string_view text, nanoseconds now) {
  auto event = object_in(text);
  if (!event)
    return false;
  if (auto* error = object_at(*event, "error"))
    failure_ = code_in(*error);
  if (auto* usage = object_at(*event, "usage")) {
    prompt_tokens_ = count_at(usage, "prompt_tokens");
    output_tokens_ = count_at(usage, "completion_tokens");
    cached_tokens_
      = count_at(object_at(*usage, "prompt_tokens_details"), "cached_tokens");
  }
  auto* choices = event->if_contains("choices");
  auto* list = choices ? choices->if_array() : nullptr;
  auto* choice = list && !list->empty() ? list->front().if_object() : nullptr;
  if (!choice)
    return true;
  auto* said = choice->if_contains("text");
  if (said && said->is_string() && !said->get_string().empty())
    moments_.push_back(now);
  auto* reason = choice->if_contains("finish_reason");
  has_reason_ = has_reason_ || (reason && reason->is_string());
  return true;
}

std::string error_code_in(std::string_view body) {
  auto whole = object_in(body);
  auto* error = whole ? object_at(*whole, "error") : nullptr;
  return error ? code_in(*error) : "";
}

} // namespace perigee::app
