#include "actors/gateway/answer_json.hpp"

#include "actors/gateway/json_text.hpp"
#include "engine/tokenizer/utf8.hpp"

#include <set>

namespace perigee::gateway {
namespace {

std::string_view reason_of(finish why) {
  switch (why) {
    case finish::not_yet: return "null";
    case finish::stop: return "\"stop\"";
    case finish::length: return "\"length\"";
  }
  return "null";
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out.append(",\"").append(name).append("\":");
  append_json_string(out, text);
}

template <class Number>
void append_count(std::string& out, std::string_view name, Number value) {
  out.append("\"").append(name).append("\":");
  append_json_number(out, value);
}

void append_head(std::string& out, const answer_head& head, std::string_view object) {
  out += "{\"id\":";
  append_json_string(out, head.id);
  append_member(out, "object", object);
  out += ',';
  append_count(out, "created", head.created_s);
  append_member(out, "model", head.model);
  append_member(out, "system_fingerprint", head.fingerprint);
}

/// A token's text; of one that is part of a character, its bytes, as OpenAI writes
/// them.
std::string shown(std::string_view bytes) {
  if (engine::is_utf8(bytes))
    return std::string{bytes};
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "bytes:";
  for (unsigned char byte : bytes)
    out.append("\\x").append({digits[byte >> 4], digits[byte & 15]});
  return out;
}

void append_bytes(std::string& out, std::string_view bytes) {
  out += ",\"bytes\":[";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out += i > 0 ? "," : "";
    append_json_number(out, static_cast<unsigned char>(bytes[i]));
  }
  out += ']';
}

template <class Token>
void append_chat_token(std::string& out, const Token& token, float logprob) {
  out += "{\"token\":";
  append_json_string(out, shown(token.bytes));
  out += ',';
  append_count(out, "logprob", logprob);
  append_bytes(out, token.bytes);
}

void append_chat_scores(std::string& out, const std::vector<scored_token>& scores) {
  out += "{\"content\":[";
  for (const auto& one : scores) {
    out += &one != scores.data() ? "," : "";
    append_chat_token(out, one, one.logprob.value_or(0));
    out += ",\"top_logprobs\":[";
    for (const auto& other : one.top) {
      out += &other != one.top.data() ? "," : "";
      append_chat_token(out, other, other.logprob);
      out += '}';
    }
    out += "]}";
  }
  out += "],\"refusal\":null}";
}

template <class Append>
void append_list(std::string& out, std::string_view name,
                 const std::vector<scored_token>& scores, Append append) {
  out.append("\"").append(name).append("\":[");
  for (const auto& one : scores) {
    out += &one != scores.data() ? "," : "";
    append(one);
  }
  out += ']';
}

void append_top(std::string& out, const scored_token& one) {
  if (!one.logprob) {
    out += "null";
    return;
  }
  out += '{';
  std::set<std::string> names; // tokens without text share one
  for (const auto& other : one.top) {
    auto [name, is_new] = names.insert(shown(other.bytes));
    if (!is_new)
      continue;
    out += names.size() > 1 ? "," : "";
    append_json_string(out, *name);
    out += ':';
    append_json_number(out, other.logprob);
  }
  out += '}';
}

void append_completion_scores(std::string& out,
                              const std::vector<scored_token>& scores) {
  out += '{';
  append_list(out, "tokens", scores,
              [&](const auto& one) { append_json_string(out, shown(one.bytes)); });
  out += ',';
  append_list(out, "token_logprobs", scores, [&](const auto& one) {
    if (one.logprob)
      append_json_number(out, *one.logprob);
    else
      out += "null";
  });
  out += ',';
  append_list(out, "top_logprobs", scores,
              [&](const auto& one) { append_top(out, one); });
  out += ',';
  append_list(out, "text_offset", scores,
              [&](const auto& one) { append_json_number(out, one.offset); });
  out += '}';
}

void append_scores(std::string& out, bool scored, bool is_chat, const choice& of) {
  out += ",\"logprobs\":";
  if (!scored || (of.said.scores.empty() && of.said.text.empty()))
    out += "null";
  else if (is_chat)
    append_chat_scores(out, of.said.scores);
  else
    append_completion_scores(out, of.said.scores);
}

void append_usage(std::string& out, const token_usage& all) {
  out += "\"usage\":{";
  append_count(out, "prompt_tokens", all.prompt_tokens);
  out += ',';
  append_count(out, "completion_tokens", all.completion_tokens);
  out += ',';
  append_count(out, "total_tokens", all.prompt_tokens + all.completion_tokens);
  out += ",\"prompt_tokens_details\":{";
  append_count(out, "cached_tokens", all.cached_tokens);
  out += "}}";
}

void append_whole_choice(std::string& out, const answer_head& head, const choice& one) {
  out += '{';
  append_count(out, "index", one.index);
  if (head.kind == api_kind::chat) {
    out += R"(,"message":{"role":"assistant","content":)";
    append_json_string(out, one.said.text);
    out += ",\"refusal\":null}";
  } else {
    append_member(out, "text", one.said.text);
  }
  append_scores(out, head.scored, head.kind == api_kind::chat, one);
  out.append(",\"finish_reason\":").append(reason_of(one.why)).append("}");
}

std::string event(std::string_view json) {
  std::string out = "data: ";
  return out.append(json).append("\n\n");
}

} // namespace

std::string whole_answer(const answer_head& head, std::span<const choice> choices,
                         const token_usage& usage, const timings& times) {
  std::string out;
  append_head(out, head,
              head.kind == api_kind::chat ? "chat.completion" : "text_completion");
  out += ",\"choices\":[";
  for (const auto& one : choices) {
    out += &one != choices.data() ? "," : "";
    append_whole_choice(out, head, one);
  }
  out += "],";
  append_usage(out, usage);
  return out.append(",\"timings\":").append(to_json(times)).append("}");
}

chunk_writer::chunk_writer(const answer_head& head, bool include_usage)
  : is_chat_(head.kind == api_kind::chat), scored_(head.scored),
    include_usage_(include_usage) {
  append_head(prefix_, head, is_chat_ ? "chat.completion.chunk" : "text_completion");
  prefix_ += ",\"choices\":[";
}

std::string chunk_writer::opening(std::uint32_t index) const {
  if (!is_chat_)
    return {};
  auto out = prefix_ + '{';
  append_count(out, "index", index);
  out += R"(,"delta":{"role":"assistant","content":""},"logprobs":null,)"
         R"("finish_reason":null}])";
  out += include_usage_ ? ",\"usage\":null}" : "}";
  return event(out);
}

std::string chunk_writer::chunk(const choice& next, const timings* times) const {
  auto out = prefix_ + '{';
  append_count(out, "index", next.index);
  if (is_chat_) {
    out += ",\"delta\":{";
    if (!next.said.empty()) {
      out += "\"content\":";
      append_json_string(out, next.said.text);
    }
    out += '}';
  } else {
    append_member(out, "text", next.said.text);
  }
  append_scores(out, scored_, is_chat_, next);
  out.append(",\"finish_reason\":").append(reason_of(next.why)).append("}]");
  if (include_usage_)
    out += ",\"usage\":null";
  if (times)
    out.append(",\"timings\":").append(to_json(*times));
  return event(out += '}');
}

std::string chunk_writer::usage(const token_usage& all) const {
  auto out = prefix_ + "],";
  append_usage(out, all);
  return event(out += '}');
}

std::string error_event(const std::string& error_json) {
  return event(error_json);
}

} // namespace perigee::gateway
