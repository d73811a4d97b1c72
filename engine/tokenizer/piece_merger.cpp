#include "engine/tokenizer/merging.hpp"
#include "engine/tokenizer/utf8.hpp"
#include "engine/tokenizer/word_merger.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace perigee::engine {

namespace {

using gguf::bad_input;
using gguf::file_fault;

constexpr std::string_view visible_space = "\u2581";

std::string byte_token_text(unsigned byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return std::string{"<0x"} + digits[byte >> 4] + digits[byte & 15] + '>';
}

std::string with_visible_spaces(std::string_view text) {
  std::string visible;
  visible.reserve(text.size() + 2 * std::ranges::count(text, ' '));
  for (const char byte : text) {
    if (byte == ' ')
      visible += visible_space;
    else
      visible += byte;
  }
  return visible;
}

/// The bytes that some token has in front of a space, be it another space's last one.
/// Behind any other byte a space begins a word: no token spans both, and each is merged
/// alone.
std::array<bool, 256> bytes_before_spaces(const token_table& table) {
  std::array<bool, 256> found{};
  for (token_id id = 0; id < table.size(); ++id) {
    const std::string_view text = table.is_structure(id) ? "" : table.text(id);
    for (std::size_t at = text.find(visible_space, 1); at != std::string_view::npos;
         at = text.find(visible_space, at + 1))
      found[static_cast<std::uint8_t>(text[at - 1])] = true;
  }
  return found;
}

class piece_merger : public word_merger {
public:
  piece_merger(std::vector<float> scores, std::shared_ptr<const token_table> table,
               const std::array<token_id, 256>& spelling)
    : table_(std::move(table)), scores_(std::move(scores)), spelling_(spelling),
      before_spaces_(bytes_before_spaces(*table_)) {}

  result<void, too_many_steps> append_tokens(std::string_view text,
                                             std::vector<token_id>& tokens,
                                             std::size_t tokens_max) const override {
    const std::string visible = with_visible_spaces(text);
    const std::string_view all = visible;
    merging work;
    for (std::uint32_t at = 0; at < all.size() && tokens.size() <= tokens_max;) {
      const std::size_t size = std::min(
        character_bytes(static_cast<std::uint8_t>(all[at])), all.size() - at);
      const std::string_view character = all.substr(at, size);
      if (character == visible_space && begins_word(all, at))
        append_merged(all, work, tokens);
      work.symbols.push_back({at, static_cast<std::uint32_t>(size),
                              table_->find_plain(character).value_or(no_token)});
      at += static_cast<std::uint32_t>(size);
    }
    append_merged(all, work, tokens);
    return {};
  }

private:
  bool begins_word(std::string_view text, std::size_t space) const {
    return space > 0 && !before_spaces_[static_cast<std::uint8_t>(text[space - 1])];
  }

  /// Takes the symbols out of `work`.
  void append_merged(std::string_view text, merging& work,
                     std::vector<token_id>& tokens) const {
    work.merge([&](const symbol& left, const symbol& right) {
      return find_joint(text.substr(left.begin, left.size + right.size));
    });
    for (const symbol& one : work.symbols) {
      if (one.token != no_token)
        tokens.push_back(one.token);
      else
        for (const char byte : text.substr(one.begin, one.size))
          tokens.push_back(spelling_[static_cast<std::uint8_t>(byte)]);
    }
    work.symbols.clear();
  }

  std::optional<joint> find_joint(std::string_view text) const {
    if (text.size() > table_->text_bytes_max())
      return std::nullopt;
    const auto token = table_->find_plain(text);
    if (!token)
      return std::nullopt;
    return joint{-double{scores_[*token]}, *token};
  }

  std::shared_ptr<const token_table> table_;
  std::vector<float> scores_;
  std::array<token_id, 256> spelling_; // of each byte
  std::array<bool, 256> before_spaces_;
};

std::optional<bad_input> find_fault(const vocabulary& words) {
  const std::size_t count = words.tokens.size();
  if (words.scores.size() != count)
    return bad_input{file_fault::malformed,
                     "tokenizer.ggml.scores",
                     "expected one for each of " + std::to_string(count)
                       + " tokens, found " + std::to_string(words.scores.size()),
                     {}};
  const auto nan
    = std::ranges::find_if(words.scores, [](float score) { return std::isnan(score); });
  if (nan != words.scores.end())
    return bad_input{file_fault::malformed,
                     "tokenizer.ggml.scores["
                       + std::to_string(nan - words.scores.begin()) + "]",
                     "expected a number, found NaN",
                     {}};
  return std::nullopt;
}

} // namespace

result<std::unique_ptr<const word_merger>, bad_input>
make_piece_merger(const vocabulary& words, std::shared_ptr<const token_table> table) {
  if (auto fault = find_fault(words))
    return failure(std::move(*fault));
  std::array<token_id, 256> spelling{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    auto token = table->find_plain(byte_token_text(byte));
    if (!token)
      token = table->find_plain(std::string(1, static_cast<char>(byte)));
    if (!token)
      token = words.unknown_token_id;
    if (!token)
      return failure(bad_input{file_fault::malformed,
                               "tokenizer.ggml.tokens",
                               "expected " + byte_token_text(byte)
                                 + " among them, for there is no unknown token",
                               {}});
    spelling[byte] = *token;
  }
  return std::make_unique<const piece_merger>(words.scores, std::move(table), spelling);
}

} // namespace perigee::engine
