#include "engine/tokenizer/byte_alphabet.hpp"

#include "engine/tokenizer/utf8.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace perigee::engine {

namespace {

bool prints(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC)
         || byte >= 0xAE;
}

std::array<std::string, 256> make_letters() {
  std::array<std::string, 256> letters;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    append_utf8(letters[byte], prints(byte) ? byte : next++);
  return letters;
}

const std::array<std::string, 256>& letters() {
  static const std::array<std::string, 256> all = make_letters();
  return all;
}

std::optional<std::uint8_t> byte_of(std::string_view letter) {
  static const auto bytes = [] {
    std::unordered_map<std::string_view, std::uint8_t> all;
    for (unsigned byte = 0; byte < 256; ++byte)
      all.emplace(letters()[byte], static_cast<std::uint8_t>(byte));
    return all;
  }();
  const auto found = bytes.find(letter);
  return found == bytes.end() ? std::nullopt : std::optional{found->second};
}

} // namespace

std::string_view letter_of(std::uint8_t byte) {
  return letters()[byte];
}

std::string bytes_of_letters(std::string_view word) {
  std::string bytes;
  while (!word.empty()) {
    const auto first = static_cast<std::uint8_t>(word[0]);
    const std::size_t size = std::min(word.size(), character_bytes(first));
    const std::string_view letter = word.substr(0, size);
    const auto byte = byte_of(letter);
    if (byte)
      bytes += static_cast<char>(*byte);
    else
      bytes += letter;
    word.remove_prefix(size);
  }
  return bytes;
}

} // namespace perigee::engine
