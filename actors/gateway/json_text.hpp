/// \file
/// Writes JSON by appending to a string.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace perigee::gateway {

/// Quotes and escapes `text`, which is UTF-8; bytes that are not become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// The shortest decimal that reads back as `value`. JSON has no infinity and no NaN:
/// a clamp to +-9999 stands for them, as in the logprobs of the OpenAI API.
void append_json_number(std::string& out, double value);
void append_json_number(std::string& out, float value);

template <std::integral Int>
void append_json_number(std::string& out, Int value) {
  out += std::to_string(value);
}

/// How many bytes at the front of `text` are one well-formed UTF-8 character; 0 if
/// none.
std::size_t utf8_length(std::string_view text);

} // namespace perigee::gateway
