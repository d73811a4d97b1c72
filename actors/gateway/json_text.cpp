#include "actors/gateway/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace perigee::gateway {
namespace {

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f
         && c != '"' && c != '\\';
}

void append_escaped(std::string& out, char c) {
  constexpr char digits[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  out += "\\u00";
  out += digits[static_cast<unsigned char>(c) >> 4];
  out += digits[static_cast<unsigned char>(c) & 15];
}

template <class Float>
void append_float(std::string& out, Float value) {
  if (!std::isfinite(value))
    value = value > 0 ? Float{9999} : Float{-9999};
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

} // namespace

std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  auto follows = [&](std::size_t at, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(at) >= low && byte(at) <= high;
  };
  auto lead = byte(0);
  if (text.empty())
    return 0;
  if (lead < 0x80)
    return 1;
  if (lead >= 0xc2 && lead <= 0xdf)
    return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) { // neither overlong nor a surrogate
    unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
    unsigned high = lead == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) { // neither overlong nor past U+10FFFF
    unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    auto end = std::find_if_not(text.begin(), text.end(), is_plain);
    auto plain = static_cast<std::size_t>(end - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty())
      break;
    auto length = utf8_length(text);
    if (length > 1)
      out.append(text.substr(0, length));
    else if (length == 0)
      out += "\xef\xbf\xbd";
    else
      append_escaped(out, text.front());
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  append_float(out, value);
}

void append_json_number(std::string& out, float value) {
  append_float(out, value);
}

} // namespace perigee::gateway
