/// \file
/// token_table: the tokens of a vocabulary, checked, and found by id and by text.
#pragma once

#include "engine/gguf/bad_input.hpp"
#include "engine/tokenizer/vocabulary.hpp"
#include "schemas/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace perigee::engine {

/// Tokens, at most.
inline constexpr std::size_t vocabulary_max = std::size_t{1} << 22;

/// Immutable once made; any number of threads may use it.
class token_table {
public:
  /// Refuses, naming the entry: no tokens or too many; lists of different length; two
  /// tokens with one text; a kind there isn't; an id that is out of range.
  static result<token_table, gguf::bad_input> make(const vocabulary& words);

  std::size_t size() const {
    return texts_.size();
  }

  /// As the file spells it.
  std::string_view text(token_id token) const {
    return texts_[token];
  }

  token_kind kind(token_id token) const {
    return kinds_[token];
  }

  /// Control and unknown tokens: they say how text is built, and are none themselves.
  bool is_structure(token_id token) const {
    return kinds_[token] == token_kind::control || kinds_[token] == token_kind::unknown;
  }

  /// The token with this text, whatever it is.
  std::optional<token_id> find(std::string_view text) const;

  /// The token with this text that merging may make: no structure.
  std::optional<token_id> find_plain(std::string_view text) const;

  /// Of the longest token.
  std::size_t text_bytes_max() const {
    return text_bytes_max_;
  }

private:
  // Never changed, so that the keys of ids_ hold.
  std::vector<std::string> texts_;
  std::vector<token_kind> kinds_;
  std::unordered_map<std::string_view, token_id> ids_;
  std::size_t text_bytes_max_ = 0;
};

} // namespace perigee::engine
