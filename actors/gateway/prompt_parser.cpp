#include "actors/gateway/prompt_parser.hpp"

#include <limits>

namespace perigee::gateway {
namespace {

constexpr auto no_limit = std::numeric_limits<std::size_t>::max(); // the body has one
constexpr auto text_parts = R"(a string or a list of {"type": "text", "text": ...})";

fault read_part(std::string& out, const json::value& value, const std::string& where) {
  if (!value.is_object())
    return wrong_type(where, R"(an object {"type": "text", "text": ...})");
  const auto& part = value.get_object();
  auto* type = part.if_contains("type");
  if (!type || !type->is_string())
    return missing(member(where, "type"), R"("text")");
  if (type->get_string() != "text")
    return not_supported(member(where, "type"),
                         "`" + std::string{type->get_string().c_str()}
                           + "` is no text, and this server reads text alone");
  auto* text = part.if_contains("text");
  if (!text)
    return missing(member(where, "text"), "a string");
  for (const auto& [key, _] : part)
    if (key != "type" && key != "text")
      return not_supported(member(where, key), "a part has `type` and `text` alone");
  return read_text(out, *text, member(where, "text"), no_limit);
}

fault read_content(std::string& out, const json::value& value, const std::string& where,
                   const api_limits& limits) {
  if (value.is_string())
    return read_text(out, value, where, no_limit);
  if (!value.is_array())
    return wrong_type(where, text_parts);
  const auto& parts = value.get_array();
  if (parts.empty() || parts.size() > limits.parts_max)
    return wrong_value(where,
                       "a list of 1 to " + std::to_string(limits.parts_max) + " parts");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string text;
    if (auto wrong = read_part(text, parts[i], item(where, i)))
      return wrong;
    out += (i > 0 ? "\n" : "") + text;
  }
  return {};
}

fault read_role(std::string& out, const json::value& value, const std::string& where) {
  if (auto wrong = read_text(out, value, where, 64))
    return wrong;
  if (out == "tool" || out == "function")
    return not_supported(where, "`" + out + "` answers a tool, and there are none");
  if (out == "developer") // what OpenAI's later models call it
    out = "system";
  if (out != "system" && out != "user" && out != "assistant")
    return wrong_value(where, "system, developer, user or assistant");
  return {};
}

/// What clients send back with an assistant's turn when it holds nothing.
bool is_hollow(const json::value& value) {
  return value.is_null() || (value.is_array() && value.get_array().empty());
}

fault read_turn(chat_turn& out, const json::value& value, const std::string& where,
                const api_limits& limits) {
  if (!value.is_object())
    return wrong_type(where, "an object with `role` and `content`");
  const auto& turn = value.get_object();
  auto* role = turn.if_contains("role");
  if (!role)
    return missing(member(where, "role"), "system, developer, user or assistant");
  if (auto wrong = read_role(out.role, *role, member(where, "role")))
    return wrong;
  for (const auto& [key, other] : turn)
    if (key != "role" && key != "content" && !is_hollow(other))
      return not_supported(member(where, key), "a turn has `role` and `content` alone");
  auto* content = turn.if_contains("content");
  if (!content || content->is_null())
    return missing(member(where, "content"), text_parts);
  return read_content(out.text, *content, member(where, "content"), limits);
}

fault read_prompt(prompt_form& out, const json::value& value, const std::string& where,
                  const api_limits& limits) {
  if (value.is_string())
    return read_text(out.emplace<std::string>(), value, where, no_limit);
  return read_tokens(out.emplace<token_list>(), value, where, limits,
                     prompt_tokens_max);
}

} // namespace

fault read_messages(dialogue& out, const json::value& value, std::string_view where,
                    const api_limits& limits) {
  if (!value.is_array())
    return wrong_type(where, "a list of objects with `role` and `content`");
  const auto& turns = value.get_array();
  if (turns.empty() || turns.size() > limits.turns_max)
    return wrong_value(where, "a list of 1 to " + std::to_string(limits.turns_max)
                                + " messages");
  out.resize(turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i)
    if (auto wrong = read_turn(out[i], turns[i], item(where, i), limits))
      return wrong;
  return {};
}

fault read_tokens(token_list& out, const json::value& value, std::string_view where,
                  const api_limits& limits, std::size_t most) {
  if (!value.is_array())
    return wrong_type(where, "a list of token ids");
  const auto& ids = value.get_array();
  if (ids.size() > most)
    return wrong_value(where,
                       "a list of at most " + std::to_string(most) + " token ids");
  out.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::int64_t id = 0;
    if (auto wrong = read_whole(id, ids[i], item(where, i), 0,
                                std::int64_t{limits.vocabulary} - 1))
      return wrong;
    out.push_back(static_cast<token_id>(id));
  }
  return {};
}

fault read_prompts(std::vector<prompt_form>& out, const json::value& value,
                   std::string_view where, const api_limits& limits) {
  if (value.is_string())
    return read_prompt(out.emplace_back(), value, std::string{where}, limits);
  if (!value.is_array())
    return wrong_type(where, prompt_forms);
  const auto& list = value.get_array();
  if (list.empty())
    return must_not_be_empty(where);
  if (list[0].is_number())
    return read_prompt(out.emplace_back(), value, std::string{where}, limits);
  if (list.size() > limits.prompts_max)
    return wrong_value(where, "a list of at most " + std::to_string(limits.prompts_max)
                                + " prompts");
  bool of_texts = list[0].is_string();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_string() != of_texts || !(of_texts || list[i].is_array()))
      return wrong_type(item(where, i),
                        of_texts ? "a string, as the first is" : "a list of token ids");
    if (auto wrong = read_prompt(out.emplace_back(), list[i], item(where, i), limits))
      return wrong;
  }
  return {};
}

} // namespace perigee::gateway
