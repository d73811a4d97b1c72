/// \file
/// tokenizer: text to tokens, and back.
#pragma once

#include "engine/gguf/bad_input.hpp"
#include "engine/model_info.hpp"
#include "engine/tokenizer/special_tokens.hpp"
#include "engine/tokenizer/token_table.hpp"
#include "engine/tokenizer/vocabulary.hpp"
#include "engine/tokenizer/word_merger.hpp"
#include "schemas/result.hpp"
#include "schemas/vocabulary.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::engine {

/// Bytes that encode() takes at once. A prompt of the most tokens, as English has them.
inline constexpr std::size_t text_bytes_max = 4 * prompt_tokens_max;

static_assert(splitter::steps_max / 32 >= text_bytes_max,
              "a splitter may take several steps a byte");

/// A part of a prompt.
struct segment {
  std::string_view text;

  /// Control tokens that are written in it are meant. Never so for what a user wrote.
  bool means_structure = false;

  /// Nothing before it merges with it: what comes before has the tokens it had without.
  bool stands_apart = false;
};

enum class encode_fault : std::uint8_t {
  text_too_long = 1, ///< More than text_bytes_max.
  too_many_tokens,   ///< More than were to be at most.
  too_intricate,     ///< Its words took too many steps to find.
};

/// Whether to begin with BOS and end with EOS, where the file asks for them.
enum class ends : std::uint8_t { as_the_file_asks, none };

/// Whether control tokens are spelled out.
enum class control : std::uint8_t { hidden, shown };

/// Immutable; any number of threads may use it at once.
class tokenizer {
public:
  /// Refuses, naming the key or entry, what isn't a whole and consistent vocabulary,
  /// and by name the models and rules that aren't supported.
  static result<std::shared_ptr<const tokenizer>, gguf::bad_input>
  make(const vocabulary& words);

  /// The tokens of all segments as one text, whatever bytes it has, and exactly one BOS
  /// in front if the file asks for one: none is added to one that is written there.
  ///
  /// Token ids equal llama.cpp's, except that no text becomes a control token unless
  /// its segment means structure. Bytes that aren't UTF-8 become byte tokens with
  /// `llama`, and what healed() makes of them with `gpt2`.
  ///
  /// `tokens_max` is at most prompt_tokens_max. Cost: O(n log n), and none to speak of
  /// for what lies behind the word with which they are exceeded, nor for a text that
  /// has more bytes than as many of the longest tokens.
  result<std::vector<token_id>, encode_fault>
  encode(std::span<const segment> prompt, ends added = ends::as_the_file_asks,
         std::size_t tokens_max = prompt_tokens_max) const;

  /// The same, for one segment without structure.
  result<std::vector<token_id>, encode_fault>
  encode(std::string_view text, ends added = ends::as_the_file_asks,
         std::size_t tokens_max = prompt_tokens_max) const;

  /// The bytes that `token`, which must be below size(), stands for in running text.
  /// Need not be whole characters.
  std::string_view piece(token_id token, control tokens = control::hidden) const;

  /// All pieces in a row. Where the tokenizer puts a space in front of text, one space
  /// of the very first token is left out. Every token must be below size().
  std::string decode(std::span<const token_id> tokens,
                     control shown = control::hidden) const;

  std::size_t size() const {
    return table_->size();
  }

  /// Tokens that end an answer. Sorted.
  std::span<const token_id> end_tokens() const {
    return end_tokens_;
  }

  bool is_end(token_id token) const;

  /// Control or unknown: structure, not text.
  bool is_structure(token_id token) const {
    return table_->is_structure(token);
  }

  std::optional<token_id> bos() const {
    return bos_;
  }

  std::optional<token_id> eos() const {
    return eos_;
  }

  bool adds_bos() const {
    return adds_bos_;
  }

  /// As the file spells it; the token with this text, if there is one.
  std::string_view text(token_id token) const {
    return table_->text(token);
  }

  std::optional<token_id> find(std::string_view text) const {
    return table_->find(text);
  }

private:
  tokenizer() = default;

  std::optional<gguf::bad_input> take_ends(const vocabulary& words);
  void take_special_tokens();
  void take_pieces(bool are_letters);
  std::optional<encode_fault> append_run(std::span<const segment> run, bool& after_text,
                                         std::vector<token_id>& tokens,
                                         std::size_t tokens_max) const;
  void add_ends(std::vector<token_id>& tokens) const;

  std::shared_ptr<const token_table> table_;
  std::shared_ptr<const word_merger> merger_;
  special_tokens special_;
  std::string pieces_; // of all tokens, in a row
  std::vector<std::uint32_t> piece_begins_;
  std::size_t longest_bytes_ = 1; // of text that is one token
  std::optional<token_id> bos_;
  std::optional<token_id> eos_;
  std::vector<token_id> end_tokens_;
  bool adds_bos_ = false;
  bool adds_eos_ = false;
  bool adds_space_ = false;
};

} // namespace perigee::engine
