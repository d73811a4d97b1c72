/// \file
/// byte_alphabet: the letters that byte-level tokenizers write bytes with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perigee::engine {

/// The letter of `byte`, in UTF-8. Bytes that print as themselves in Latin-1 are their
/// own letters; the others, in order, are U+0100 and on. This is GPT-2's alphabet.
std::string_view letter_of(std::uint8_t byte);

/// What `word`, written in letters, says in bytes. Whatever is no letter stays as it
/// is.
std::string bytes_of_letters(std::string_view word);

} // namespace perigee::engine
