#include "engine/tokenizer/byte_alphabet.hpp"
#include "engine/tokenizer/merging.hpp"
#include "engine/tokenizer/utf8.hpp"
#include "engine/tokenizer/word_merger.hpp"

#include <string>
#include <utility>

namespace perigee::engine {

namespace {

using gguf::bad_input;
using gguf::file_fault;

using merge_map = std::unordered_map<std::uint64_t, joint>;

std::uint64_t pair_of(token_id left, token_id right) {
  return std::uint64_t{left} << 32 | right;
}

bad_input bad_merge(std::size_t index, std::string expected) {
  return {file_fault::malformed,
          "tokenizer.ggml.merges[" + std::to_string(index) + "]",
          std::move(expected),
          {}};
}

/// A part of a merge has at least one letter, and may be a space.
std::optional<std::pair<std::string_view, std::string_view>>
parts_of(std::string_view merge) {
  const std::size_t space = merge.find(' ', 1);
  if (space == std::string_view::npos || space + 1 == merge.size())
    return std::nullopt;
  return std::pair{merge.substr(0, space), merge.substr(space + 1)};
}

result<merge_map, bad_input> read_merges(const std::vector<std::string>& merges,
                                         const token_table& table) {
  merge_map read;
  read.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto parts = parts_of(merges[i]);
    if (!parts)
      return failure(bad_merge(i, "expected two parts with a space between them"));
    const auto left = table.find_plain(parts->first);
    const auto right = table.find_plain(parts->second);
    const auto both = table.find_plain(std::string{parts->first}.append(parts->second));
    if (!left || !right || !both)
      return failure(bad_merge(i,
                               "expected both parts, and what they make, to be tokens "
                               "of text"));
    read.emplace(pair_of(*left, *right), joint{static_cast<double>(i), *both});
  }
  return read;
}

class byte_pair_merger : public word_merger {
public:
  byte_pair_merger(const split_rule& rule, std::shared_ptr<const token_table> table,
                   merge_map merges)
    : table_(std::move(table)), merges_(std::move(merges)), splitter_(rule),
      prefers_whole_words_(rule.prefers_whole_words) {
    for (unsigned byte = 0; byte < 256; ++byte)
      letters_[byte] = table_->find_plain(letter_of(static_cast<std::uint8_t>(byte)))
                         .value_or(no_token);
  }

  result<void, too_many_steps> append_tokens(std::string_view text,
                                             std::vector<token_id>& tokens,
                                             std::size_t tokens_max) const override {
    const std::string clean = is_utf8(text) ? std::string{} : healed(text);
    merging work;
    return splitter_.split(clean.empty() ? text : clean, [&](std::string_view word) {
      if (tokens.size() > tokens_max)
        return;
      if (const auto whole = find_whole(word))
        tokens.push_back(*whole);
      else
        append_merged(word, work, tokens);
    });
  }

private:
  std::optional<token_id> find_whole(std::string_view word) const {
    if (word.size() == 1)
      return letters_[static_cast<std::uint8_t>(word[0])] == no_token
               ? std::nullopt
               : std::optional{letters_[static_cast<std::uint8_t>(word[0])]};
    if (!prefers_whole_words_ || word.size() > table_->text_bytes_max())
      return std::nullopt;
    std::string letters;
    for (const char byte : word)
      letters += letter_of(static_cast<std::uint8_t>(byte));
    return table_->find_plain(letters);
  }

  void append_merged(std::string_view word, merging& work,
                     std::vector<token_id>& tokens) const {
    work.symbols.clear();
    for (std::uint32_t i = 0; i < word.size(); ++i)
      work.symbols.push_back({i, 1, letters_[static_cast<std::uint8_t>(word[i])]});
    work.merge([&](const symbol& left, const symbol& right) -> std::optional<joint> {
      const auto found = merges_.find(pair_of(left.token, right.token));
      return found == merges_.end() ? std::nullopt : std::optional{found->second};
    });
    for (const symbol& one : work.symbols) {
      if (one.token != no_token)
        tokens.push_back(one.token);
    }
  }

  std::shared_ptr<const token_table> table_;
  merge_map merges_;
  splitter splitter_;
  bool prefers_whole_words_;
  std::array<token_id, 256> letters_{};
};

bad_input unknown_rule(const std::string& name) {
  std::string known;
  for (const split_rule& rule : split_rules())
    known += (known.empty() ? "" : ", ") + std::string{rule.name};
  return {file_fault::unsupported,
          "tokenizer.ggml.pre",
          "expected one of " + known + ", found '" + name + "'",
          {}};
}

} // namespace

result<std::unique_ptr<const word_merger>, bad_input>
make_byte_pair_merger(const vocabulary& words,
                      std::shared_ptr<const token_table> table) {
  const split_rule* rule = find_split_rule(words.pre);
  if (!rule)
    return failure(unknown_rule(words.pre));
  auto merges = read_merges(words.merges, *table);
  if (!merges)
    return failure(std::move(merges.error()));
  return std::make_unique<const byte_pair_merger>(*rule, std::move(table),
                                                  std::move(*merges));
}

} // namespace perigee::engine
