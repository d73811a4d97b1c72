/// \file
/// What the forms share. For this folder alone.
#pragma once

#include "engine/chat/chat_template.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::engine {

/// Parts are written one after another; neighbours that are both structure become one.
class part_writer {
public:
  void structure(std::string_view text);
  void written_by_user(std::string_view text);
  void written_by_assistant(std::string_view text);

  std::vector<prompt_part> take();

private:
  std::vector<prompt_part> parts_;
};

/// Without white space at both ends, as Python's str.strip() sees it.
std::string_view trimmed(std::string_view text);

/// The literals in `source` (Jinja), in order: what stands between their quotes, with
/// escapes undone.
std::vector<std::string> literals_of(std::string_view source);

/// "user", "assistant" or "system".
std::string_view name_of(role who);

/// What is wrong where user and assistant must take turns, after an optional system
/// message.
std::optional<bad_conversation>
find_fault_in_turns(std::span<const message> conversation);

/// The forms, with the details that `source`, the file's template, gives them; as they
/// usually are where it is empty.
std::shared_ptr<const chat_template> make_chatml(std::string_view source);
std::shared_ptr<const chat_template> make_llama3(std::string_view source);
std::shared_ptr<const chat_template> make_gemma(std::string_view source);
std::shared_ptr<const chat_template> make_mistral(std::string_view source);

} // namespace perigee::engine
