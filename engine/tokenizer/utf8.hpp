/// \file
/// UTF-8, read with patience: what bytes mean that are not quite text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace perigee::engine {

inline constexpr char32_t replacement_character = 0xFFFD;

/// Bytes of the character that `first` begins, by its upper four bits alone: 1 for what
/// begins none.
constexpr std::size_t character_bytes(std::uint8_t first) {
  return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/// Appends `point`, which must be at most 0x10FFFF, to `text`. Surrogates are written
/// like any other.
void append_utf8(std::string& text, char32_t point);

/// True if `text` is UTF-8 by the standard: no overlong form, no surrogate, nothing cut
/// off.
bool is_utf8(std::string_view text);

/// Length of the longest prefix of `text` that holds whole characters only: less than
/// text.size() if its end could be the beginning of a character, at most by three.
std::size_t whole_characters(std::string_view text);

/// `text` with every maximal subpart that is no UTF-8 replaced by U+FFFD, as the
/// Unicode standard recommends (chapter 3.9, "U+FFFD Substitution of Maximal
/// Subparts").
std::string with_replacements(std::string_view text);

/// `text` as a byte-level tokenizer of llama.cpp understands it: overlong forms become
/// what they stand for, surrogates stay, and each other byte that begins no character
/// becomes U+FFFD. Beyond U+10FFFF, where llama.cpp stops, U+FFFD as well.
std::string healed(std::string_view text);

} // namespace perigee::engine
