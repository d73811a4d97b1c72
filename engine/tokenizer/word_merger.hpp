/// \file
/// word_merger: how text without special tokens becomes tokens. Two ways.
#pragma once

#include "engine/gguf/bad_input.hpp"
#include "engine/tokenizer/splitter.hpp"
#include "engine/tokenizer/token_table.hpp"
#include "schemas/result.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace perigee::engine {

/// Immutable; any number of threads may use it. Holds on to the table it was made with.
class word_merger {
public:
  virtual ~word_merger() = default;

  /// Appends the tokens of `text`, whatever bytes it has. Once `tokens` has more than
  /// `tokens_max`, what is left of the text may be left out.
  virtual result<void, too_many_steps> append_tokens(std::string_view text,
                                                     std::vector<token_id>& tokens,
                                                     std::size_t tokens_max) const = 0;
};

/// Byte-level BPE, as GPT-2 does: words are cut by the file's rule, written in letters
/// for bytes, and merged in the order of the file's merges. A byte without a letter in
/// the vocabulary is left out, as llama.cpp does.
///
/// Refuses, naming the entry, a merge that isn't two tokens that make a third, and a
/// rule that there isn't.
result<std::unique_ptr<const word_merger>, gguf::bad_input>
make_byte_pair_merger(const vocabulary& words,
                      std::shared_ptr<const token_table> table);

/// As SentencePiece does: neighbours whose text together is a token are merged, the
/// highest score first; what is no token then is spelled in byte tokens.
///
/// Refuses scores that are missing or NaN, and a vocabulary that can't spell every byte
/// and has no unknown token.
result<std::unique_ptr<const word_merger>, gguf::bad_input>
make_piece_merger(const vocabulary& words, std::shared_ptr<const token_table> table);

} // namespace perigee::engine
