#include "engine/tokenizer/utf8.hpp"

#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::engine {

namespace {

constexpr char32_t point_max = 0x10FFFF;

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

/// What stands at the beginning of some bytes.
struct reading {
  std::size_t bytes = 0; ///< Of the character, or of the maximal subpart. At least 1.
  bool is_whole = false;
  bool is_cut_off = false; ///< No character, but more bytes could make it one.
};

/// Bounds of the second byte, and the number of bytes, by the first: table 3-7 of the
/// Unicode standard. Nothing if none begins so.
struct form {
  std::size_t bytes = 0;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xBF;
};

form form_of(std::uint8_t first) {
  if (first < 0x80)
    return {1};
  if (first >= 0xC2 && first <= 0xDF)
    return {2};
  if (first == 0xE0)
    return {3, 0xA0, 0xBF};
  if (first == 0xED)
    return {3, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF)
    return {3};
  if (first == 0xF0)
    return {4, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3)
    return {4};
  if (first == 0xF4)
    return {4, 0x80, 0x8F};
  return {};
}

reading read(std::string_view text) {
  const form shape = form_of(byte_at(text, 0));
  if (shape.bytes == 0)
    return {.bytes = 1};
  const std::size_t limit = std::min(shape.bytes, text.size());
  std::size_t good = 1;
  while (good < limit) {
    const std::uint8_t low = good == 1 ? shape.second_min : 0x80;
    const std::uint8_t high = good == 1 ? shape.second_max : 0xBF;
    if (byte_at(text, good) < low || byte_at(text, good) > high)
      return {.bytes = good};
    ++good;
  }
  const bool is_whole = good == shape.bytes;
  return {.bytes = good, .is_whole = is_whole, .is_cut_off = !is_whole};
}

struct lenient_reading {
  char32_t point = replacement_character;
  std::size_t bytes = 1;
};

/// By length alone, as the first byte tells it.
lenient_reading read_leniently(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  if (first < 0x80)
    return {.point = first};
  if (first < 0xC0 || first >= 0xF8)
    return {};
  const std::size_t bytes = character_bytes(first);
  if (text.size() < bytes)
    return {};
  char32_t point = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80)
      return {};
    point = point << 6 | (byte_at(text, i) & 0x3FU);
  }
  if (point > point_max)
    return {};
  return {point, bytes};
}

} // namespace

void append_utf8(std::string& text, char32_t point) {
  PERIGEE_ASSERT(point <= point_max, "a code point");
  const auto tail
    = [&](int shift) { text += static_cast<char>(0x80U | (point >> shift & 0x3FU)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0U | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0U | point >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const reading one = read(text);
    if (!one.is_whole)
      return false;
    text.remove_prefix(one.bytes);
  }
  return true;
}

std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const std::uint8_t byte = byte_at(text, text.size() - back);
    if (byte < 0x80)
      break;
    if (byte >= 0xC0)
      return read(text.substr(text.size() - back)).is_cut_off ? text.size() - back
                                                              : text.size();
  }
  return text.size();
}

std::string with_replacements(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const reading one = read(text);
    if (one.is_whole)
      clean += text.substr(0, one.bytes);
    else
      append_utf8(clean, replacement_character);
    text.remove_prefix(one.bytes);
  }
  return clean;
}

std::string healed(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const lenient_reading one = read_leniently(text);
    append_utf8(clean, one.point);
    text.remove_prefix(one.bytes);
  }
  return clean;
}

} // namespace perigee::engine
