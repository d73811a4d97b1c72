#include "engine/chat/form.hpp"

#include "engine/tokenizer/utf8.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace perigee::engine {

namespace {

/// Beyond ASCII, in UTF-8: all of two or three bytes.
constexpr std::array<std::string_view, 19> wide_spaces{
  "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
  "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
  "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
};

bool is_narrow_space(char byte) {
  return byte == ' ' || (byte >= '\x09' && byte <= '\x0D')
         || (byte >= '\x1C' && byte <= '\x1F');
}

/// Bytes of the space that `text` begins with, or 0.
std::size_t space_in_front(std::string_view text) {
  if (!text.empty() && is_narrow_space(text.front()))
    return 1;
  const auto wide = std::ranges::find_if(
    wide_spaces, [&](std::string_view one) { return text.starts_with(one); });
  return wide == wide_spaces.end() ? 0 : wide->size();
}

std::size_t space_behind(std::string_view text) {
  if (!text.empty() && is_narrow_space(text.back()))
    return 1;
  const auto wide = std::ranges::find_if(
    wide_spaces, [&](std::string_view one) { return text.ends_with(one); });
  return wide == wide_spaces.end() ? 0 : wide->size();
}

struct jinja_literal {
  std::string text;
  std::size_t bytes = 0; // in the source, with quotes
};

/// The literal that begins at the quote in front of `source`.
jinja_literal read_literal(std::string_view source) {
  jinja_literal read;
  const char quote = source.front();
  std::size_t at = 1;
  for (; at < source.size() && source[at] != quote; ++at) {
    if (source[at] != '\\' || at + 1 == source.size()) {
      read.text += source[at];
      continue;
    }
    const char escaped = source[++at];
    read.text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
  }
  read.bytes = std::min(at + 1, source.size());
  return read;
}

} // namespace

void part_writer::structure(std::string_view text) {
  if (!parts_.empty() && parts_.back().means_structure)
    parts_.back().text += text;
  else
    parts_.push_back({std::string{text}, true, false});
}

void part_writer::written_by_user(std::string_view text) {
  parts_.push_back({std::string{text}, false, false});
}

void part_writer::written_by_assistant(std::string_view text) {
  parts_.push_back({std::string{text}, false, true});
}

std::vector<prompt_part> part_writer::take() {
  return std::move(parts_);
}

std::string_view trimmed(std::string_view text) {
  while (const std::size_t space = space_in_front(text))
    text.remove_prefix(space);
  while (const std::size_t space = space_behind(text))
    text.remove_suffix(space);
  return text;
}

std::vector<std::string> literals_of(std::string_view source) {
  std::vector<std::string> literals;
  // Quotes mean literals only where Jinja is spoken: in {{ }} and {% %}.
  while (true) {
    const std::size_t open = std::min(source.find("{{"), source.find("{%"));
    if (open == std::string_view::npos)
      return literals;
    source.remove_prefix(open + 2);
    while (!source.empty() && !source.starts_with("}}") && !source.starts_with("%}")) {
      if (source.front() != '\'' && source.front() != '"') {
        source.remove_prefix(1);
        continue;
      }
      jinja_literal read = read_literal(source);
      source.remove_prefix(read.bytes);
      literals.push_back(std::move(read.text));
    }
  }
}

std::string_view name_of(role who) {
  switch (who) {
    case role::system: return "system";
    case role::user: return "user";
    case role::assistant: break;
  }
  return "assistant";
}

std::optional<bad_conversation>
find_fault_in_turns(std::span<const message> conversation) {
  const std::size_t first = conversation.front().who == role::system ? 1 : 0;
  if (first == conversation.size())
    return bad_conversation{first, "expected a user message after the system message"};
  for (std::size_t i = first; i < conversation.size(); ++i) {
    const role expected = (i - first) % 2 == 0 ? role::user : role::assistant;
    if (conversation[i].who != expected)
      return bad_conversation{
        i, "expected a message of role '" + std::string{name_of(expected)}
             + "', found '" + std::string{name_of(conversation[i].who)}
             + "': this model's conversations begin with a user message and alternate"};
  }
  return std::nullopt;
}

} // namespace perigee::engine
