/// \file
/// Vocabularies of a few tokens, to be spoilt by tests.
#pragma once

#include "engine/tokenizer/byte_alphabet.hpp"
#include "engine/tokenizer/vocabulary.hpp"

#include <string>

namespace perigee::engine {

/// Byte-level: tokens 0 to 3 are `<s>` `</s>` `<|im_end|>` `<b>`, then 256 bytes, then
/// "he", "ll", "hell", "hello" from 260 on.
inline vocabulary small_byte_level() {
  vocabulary words;
  words.model = "gpt2";
  words.pre = "gpt-2";
  words.tokens = {"<s>", "</s>", "<|im_end|>", "<b>"};
  words.token_type = {token_kind::control, token_kind::control, token_kind::control,
                      token_kind::user_defined};
  for (unsigned byte = 0; byte < 256; ++byte)
    words.tokens.emplace_back(letter_of(static_cast<std::uint8_t>(byte)));
  for (const char* word : {"he", "ll", "hell", "hello"})
    words.tokens.emplace_back(word);
  words.token_type.resize(words.tokens.size(), token_kind::normal);
  words.merges = {"h e", "l l", "he ll", "hell o"};
  words.bos_token_id = 0;
  words.eos_token_id = 1;
  return words;
}

/// SentencePiece-like: `<unk>` `<s>` `</s>`, 256 bytes, then "h", "i", "▁", "hi", "▁hi"
/// from 259 on.
inline vocabulary small_pieces() {
  vocabulary words;
  words.model = "llama";
  words.tokens = {"<unk>", "<s>", "</s>"};
  words.token_type = {token_kind::unknown, token_kind::control, token_kind::control};
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (unsigned byte = 0; byte < 256; ++byte)
    words.tokens.push_back(std::string{"<0x"} + digits[byte / 16] + digits[byte % 16]
                           + ">");
  words.token_type.resize(words.tokens.size(), token_kind::byte);
  for (const char* piece : {"h", "i", "\u2581", "hi", "\u2581hi"})
    words.tokens.emplace_back(piece);
  words.token_type.resize(words.tokens.size(), token_kind::normal);
  words.scores.resize(words.tokens.size(), 0);
  words.scores[262] = -1;
  words.scores[263] = -2;
  return words;
}

} // namespace perigee::engine
