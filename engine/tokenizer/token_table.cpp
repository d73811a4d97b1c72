#include "engine/tokenizer/token_table.hpp"

#include <algorithm>
#include <array>

namespace perigee::engine {

namespace {

using gguf::bad_input;
using gguf::file_fault;

bad_input malformed(std::string where, std::string expected) {
  return {file_fault::malformed,
          "tokenizer.ggml." + std::move(where),
          std::move(expected),
          {}};
}

std::string entry(const char* list, std::size_t index) {
  return list + ("[" + std::to_string(index) + "]");
}

// Some files call these normal or user-defined. They end a turn, or text, for the
// models that have them: no text may make them, and none may show them.
constexpr std::array<std::string_view, 8> always_control{
  "<|im_start|>", "<|im_end|>", "<|endoftext|>",   "<|end_of_text|>",
  "<|eot_id|>",   "<|eom_id|>", "<start_of_turn>", "<end_of_turn>",
};

bool is_kind(token_kind kind) {
  return kind >= token_kind::normal && kind <= token_kind::byte;
}

std::optional<bad_input> find_fault(const vocabulary& words) {
  const std::size_t count = words.tokens.size();
  if (count == 0 || count > vocabulary_max)
    return malformed("tokens", "expected 1 to " + std::to_string(vocabulary_max)
                                 + " tokens, found " + std::to_string(count));
  if (!words.token_type.empty() && words.token_type.size() != count)
    return malformed("token_type", "expected one for each of " + std::to_string(count)
                                     + " tokens, found "
                                     + std::to_string(words.token_type.size()));
  for (std::size_t i = 0; i < words.token_type.size(); ++i) {
    if (!is_kind(words.token_type[i]))
      return malformed(entry("token_type", i),
                       "expected 1 to 6, found "
                         + std::to_string(static_cast<unsigned>(words.token_type[i])));
  }
  using named_id = std::pair<const char*, std::optional<token_id>>;
  for (const auto& [name, id] :
       {named_id{"bos_token_id", words.bos_token_id},
        named_id{"eos_token_id", words.eos_token_id},
        named_id{"eot_token_id", words.eot_token_id},
        named_id{"eom_token_id", words.eom_token_id},
        named_id{"unknown_token_id", words.unknown_token_id}}) {
    if (id && *id >= count)
      return malformed(name, "expected an id below " + std::to_string(count)
                               + ", found " + std::to_string(*id));
  }
  return std::nullopt;
}

} // namespace

result<token_table, bad_input> token_table::make(const vocabulary& words) {
  if (auto fault = find_fault(words))
    return failure(std::move(*fault));
  token_table made;
  made.texts_ = words.tokens;
  made.kinds_ = words.token_type;
  made.kinds_.resize(words.tokens.size(), token_kind::normal);
  made.ids_.reserve(made.texts_.size());
  for (token_id id = 0; id < made.texts_.size(); ++id) {
    const std::string_view text = made.texts_[id];
    made.text_bytes_max_ = std::max(made.text_bytes_max_, text.size());
    if (std::ranges::find(always_control, text) != always_control.end())
      made.kinds_[id] = token_kind::control;
    if (text.empty())
      continue; // holds a place; nothing becomes it
    const auto [twin, is_new] = made.ids_.emplace(text, id);
    if (!is_new)
      return failure(malformed(entry("tokens", id), "expected a text of its own, found "
                                                    "that of token "
                                                      + std::to_string(twin->second)));
  }
  return made;
}

std::optional<token_id> token_table::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<token_id> token_table::find_plain(std::string_view text) const {
  const auto found = find(text);
  return found && !is_structure(*found) ? found : std::nullopt;
}

} // namespace perigee::engine
