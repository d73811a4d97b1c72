#include "engine/tokenizer/tokenizer.hpp"

#include "engine/tokenizer/byte_alphabet.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace perigee::engine {

namespace {

using gguf::bad_input;
using gguf::file_fault;

constexpr std::string_view visible_space = "\u2581";

// Besides those that the file names.
constexpr std::array<std::string_view, 6> ends_by_text{
  "<|im_end|>", "<|endoftext|>", "<|end_of_text|>",
  "<|eot_id|>", "<|eom_id|>",    "<end_of_turn>",
};

/// `words`, with what the model `llama` leaves out if it is as usual.
vocabulary with_defaults(vocabulary words, const split_rule* rule) {
  const auto if_there = [&](token_id id) {
    return id < words.tokens.size() ? std::optional{id} : std::nullopt;
  };
  const bool is_llama = words.model == "llama";
  if (is_llama) {
    words.unknown_token_id
      = words.unknown_token_id ? words.unknown_token_id : if_there(0);
    words.bos_token_id = words.bos_token_id ? words.bos_token_id : if_there(1);
    words.eos_token_id = words.eos_token_id ? words.eos_token_id : if_there(2);
  }
  words.add_bos_token
    = words.add_bos_token.value_or(is_llama || (rule && rule->adds_bos));
  words.add_eos_token = words.add_eos_token.value_or(false);
  words.add_space_prefix = is_llama && words.add_space_prefix.value_or(true);
  return words;
}

std::string with_plain_spaces(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(visible_space), text.size());
    plain += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty())
      break;
    plain += ' ';
    text.remove_prefix(visible_space.size());
  }
  return plain;
}

/// The byte that `<0x0A>` stands for.
std::optional<char> byte_of(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>')
    return std::nullopt;
  unsigned byte = 0;
  for (const char digit : text.substr(3, 2)) {
    const std::size_t at = std::string_view{"0123456789ABCDEF"}.find(digit);
    if (at == std::string_view::npos)
      return std::nullopt;
    byte = byte * 16 + static_cast<unsigned>(at);
  }
  return static_cast<char>(byte);
}

result<std::unique_ptr<const word_merger>, bad_input>
make_merger(const vocabulary& words, std::shared_ptr<const token_table> table) {
  if (words.model == "gpt2")
    return make_byte_pair_merger(words, std::move(table));
  if (words.model == "llama")
    return make_piece_merger(words, std::move(table));
  return failure(bad_input{file_fault::unsupported,
                           "tokenizer.ggml.model",
                           "expected one of gpt2, llama, found '" + words.model + "'",
                           {}});
}

} // namespace

result<std::shared_ptr<const tokenizer>, bad_input>
tokenizer::make(const vocabulary& given) {
  const split_rule* rule = given.model == "gpt2" ? find_split_rule(given.pre) : nullptr;
  const vocabulary words = with_defaults(given, rule);
  auto table = token_table::make(words);
  if (!table)
    return failure(std::move(table.error()));
  const std::shared_ptr<tokenizer> made{new tokenizer};
  made->table_ = std::make_shared<const token_table>(std::move(*table));
  auto merger = make_merger(words, made->table_);
  if (!merger)
    return failure(std::move(merger.error()));
  made->merger_ = std::move(*merger);
  if (auto fault = made->take_ends(words))
    return failure(std::move(*fault));
  made->adds_space_ = *words.add_space_prefix;
  made->take_special_tokens();
  made->take_pieces(words.model == "gpt2");
  return std::shared_ptr<const tokenizer>{made};
}

std::optional<bad_input> tokenizer::take_ends(const vocabulary& words) {
  adds_bos_ = *words.add_bos_token;
  adds_eos_ = *words.add_eos_token;
  bos_ = words.bos_token_id;
  eos_ = words.eos_token_id;
  if (adds_bos_ && !bos_)
    return bad_input{file_fault::missing,
                     "tokenizer.ggml.bos_token_id",
                     "expected one, for the prompt is to begin with it",
                     {}};
  if (adds_eos_ && !eos_)
    return bad_input{file_fault::missing,
                     "tokenizer.ggml.eos_token_id",
                     "expected one, for the prompt is to end with it",
                     {}};
  for (const auto& id : {words.eos_token_id, words.eot_token_id, words.eom_token_id}) {
    if (id)
      end_tokens_.push_back(*id);
  }
  for (const std::string_view text : ends_by_text) {
    if (const auto id = table_->find(text))
      end_tokens_.push_back(*id);
  }
  std::ranges::sort(end_tokens_);
  end_tokens_.erase(std::unique(end_tokens_.begin(), end_tokens_.end()),
                    end_tokens_.end()); // clang 14 knows no std::ranges::unique
  return std::nullopt;
}

void tokenizer::take_special_tokens() {
  for (token_id id = 0; id < table_->size(); ++id) {
    const bool is_structure = table_->is_structure(id);
    const bool is_special
      = is_structure || table_->kind(id) == token_kind::user_defined;
    if (is_special && !table_->text(id).empty())
      special_.add(id, table_->text(id), is_structure);
  }
}

void tokenizer::take_pieces(bool are_letters) {
  piece_begins_.reserve(table_->size() + 1);
  for (token_id id = 0; id < table_->size(); ++id) {
    piece_begins_.push_back(static_cast<std::uint32_t>(pieces_.size()));
    const std::string_view text = table_->text(id);
    switch (table_->kind(id)) {
      case token_kind::normal:
        pieces_ += are_letters ? bytes_of_letters(text) : with_plain_spaces(text);
        break;
      case token_kind::byte:
        if (const auto byte = byte_of(text))
          pieces_ += *byte;
        else
          pieces_ += text;
        break;
      case token_kind::unused: break;
      default: pieces_ += text;
    }
    const std::size_t piece = pieces_.size() - piece_begins_.back();
    longest_bytes_ = std::max(longest_bytes_, are_letters ? piece : text.size());
  }
  piece_begins_.push_back(static_cast<std::uint32_t>(pieces_.size()));
}

result<std::vector<token_id>, encode_fault>
tokenizer::encode(std::string_view text, ends added, std::size_t tokens_max) const {
  return encode(std::array{segment{text}}, added, tokens_max);
}

result<std::vector<token_id>, encode_fault>
tokenizer::encode(std::span<const segment> prompt, ends added,
                  std::size_t tokens_max) const {
  PERIGEE_ASSERT(tokens_max <= prompt_tokens_max, "a prompt's tokens are limited");
  std::size_t bytes = 0;
  for (const segment& one : prompt)
    bytes += one.text.size();
  if (bytes / longest_bytes_ > tokens_max)
    return failure(encode_fault::too_many_tokens);
  if (bytes > text_bytes_max)
    return failure(encode_fault::text_too_long);
  std::vector<token_id> tokens;
  bool after_text = false;
  while (!prompt.empty()) {
    const auto next
      = std::ranges::find(prompt.subspan(1), true, &segment::stands_apart);
    const auto run = static_cast<std::size_t>(next - prompt.begin());
    if (auto fault = append_run(prompt.first(run), after_text, tokens, tokens_max))
      return failure(*fault);
    prompt = prompt.subspan(run);
  }
  if (added == ends::as_the_file_asks)
    add_ends(tokens);
  if (tokens.size() > tokens_max)
    return failure(encode_fault::too_many_tokens);
  return tokens;
}

/// `after_text`: no space is to come before what is text next.
std::optional<encode_fault> tokenizer::append_run(std::span<const segment> run,
                                                  bool& after_text,
                                                  std::vector<token_id>& tokens,
                                                  std::size_t tokens_max) const {
  std::string text;
  std::vector<stretch> stretches;
  for (const segment& one : run) {
    text += one.text;
    stretches.push_back({text.size(), one.means_structure});
  }
  for (const fragment& one : special_.partition(text, stretches)) {
    if (tokens.size() > tokens_max)
      return encode_fault::too_many_tokens;
    if (one.token) {
      tokens.push_back(*one.token);
      after_text = false;
      continue;
    }
    const std::string_view words = std::string_view{text}.substr(one.begin, one.size);
    const bool needs_space = adds_space_ && !after_text;
    if (!merger_->append_tokens(needs_space ? std::string{" "}.append(words) : words,
                                tokens, tokens_max))
      return encode_fault::too_intricate;
    after_text = true;
  }
  return std::nullopt;
}

void tokenizer::add_ends(std::vector<token_id>& tokens) const {
  if (adds_bos_ && (tokens.empty() || tokens.front() != *bos_))
    tokens.insert(tokens.begin(), *bos_);
  if (adds_eos_ && tokens.back() != *eos_)
    tokens.push_back(*eos_);
}

std::string_view tokenizer::piece(token_id token, control tokens) const {
  PERIGEE_ASSERT(token < size(), "a token of the vocabulary");
  if (tokens == control::hidden && table_->is_structure(token))
    return {};
  const std::uint32_t begin = piece_begins_[token];
  return std::string_view{pieces_}.substr(begin, piece_begins_[token + 1] - begin);
}

std::string tokenizer::decode(std::span<const token_id> tokens, control shown) const {
  std::string text;
  for (const token_id token : tokens)
    text += piece(token, shown);
  if (adds_space_ && !tokens.empty() && piece(tokens.front(), shown).starts_with(' '))
    text.erase(0, 1);
  return text;
}

bool tokenizer::is_end(token_id token) const {
  return std::ranges::binary_search(end_tokens_, token);
}

} // namespace perigee::engine
