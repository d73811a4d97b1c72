#include "actors/cluster/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace perigee::cluster {
namespace {

constexpr std::size_t text_length_max = 4096;
constexpr std::size_t texts_max = 1024;

struct unit {
  const char* name;
  std::uint64_t bytes;
};
constexpr std::array<unit, 5> units{{{"TiB", std::uint64_t{1} << 40},
                                     {"GiB", std::uint64_t{1} << 30},
                                     {"MiB", std::uint64_t{1} << 20},
                                     {"KiB", std::uint64_t{1} << 10},
                                     {"B", 1}}};

template <class Number>
bool parse(std::string_view text, Number& into) {
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), into);
  return wrong == std::errc{} && end == text.data() + text.size();
}

bool within(double value, const bounds& allowed) {
  const auto* range = std::get_if<between>(&allowed);
  return !range || (value >= range->least && value <= range->most);
}

/// A whole number that is not negative.
bool whole(const written& from, std::uint64_t& into) {
  if (const auto* number = std::get_if<std::int64_t>(&from.value)) {
    into = static_cast<std::uint64_t>(*number);
    return *number >= 0;
  }
  const auto* text = std::get_if<std::string>(&from.value);
  return text && from.is_bare && parse(*text, into);
}

std::string range_text(const bounds& allowed, std::string (*show)(double)) {
  const auto* range = std::get_if<between>(&allowed);
  return range ? " from " + show(range->least) + " to " + show(range->most) : "";
}

std::string show_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", value);
  return text.data();
}

std::string show_size(std::uint64_t bytes) {
  for (const auto& one : units)
    if (bytes >= one.bytes && bytes % one.bytes == 0)
      return std::to_string(bytes / one.bytes) + one.name;
  return std::to_string(bytes) + "B";
}

std::string show_bytes(double value) {
  return show_size(static_cast<std::uint64_t>(value));
}

std::string one_of_text(const one_of& choice) {
  std::string text = "one of ";
  for (std::size_t i = 0; i < choice.names.size(); ++i)
    text += (i == 0 ? "\"" : ", \"") + choice.names[i] + '"';
  return text;
}

} // namespace

// -- assign -------------------------------------------------------------------

bool assign(const written& from, const bounds& allowed, std::string& into) {
  const auto* text = std::get_if<std::string>(&from.value);
  if (!text || text->size() > text_length_max || text->find('\0') != std::string::npos)
    return false;
  if (const auto* choice = std::get_if<one_of>(&allowed))
    if (std::find(choice->names.begin(), choice->names.end(), *text)
        == choice->names.end())
      return false;
  if (const auto* form = std::get_if<of_form>(&allowed))
    if (!form->is(*text))
      return false;
  into = *text;
  return true;
}

bool assign(const written& from, const bounds& allowed, count& into) {
  std::uint64_t number = 0;
  if (!whole(from, number) || !within(static_cast<double>(number), allowed))
    return false;
  into = number;
  return true;
}

bool assign(const written& from, const bounds& allowed, double& into) {
  double number = 0;
  if (const auto* real = std::get_if<double>(&from.value))
    number = *real;
  else if (const auto* integer = std::get_if<std::int64_t>(&from.value))
    number = static_cast<double>(*integer);
  else if (const auto* text = std::get_if<std::string>(&from.value);
           !text || !from.is_bare || !parse(*text, number))
    return false;
  if (!std::isfinite(number) || !within(number, allowed))
    return false;
  into = number;
  return true;
}

bool assign(const written& from, const bounds&, bool& into) {
  if (const auto* flag = std::get_if<bool>(&from.value)) {
    into = *flag;
    return true;
  }
  const auto* text = std::get_if<std::string>(&from.value);
  if (!text || !from.is_bare || (*text != "true" && *text != "false"))
    return false;
  into = *text == "true";
  return true;
}

bool assign(const written& from, const bounds& allowed, byte_size& into) {
  const auto* text = std::get_if<std::string>(&from.value);
  if (!text)
    return false;
  auto digits = text->find_first_not_of("0123456789");
  if (digits == std::string::npos)
    return false;
  std::uint64_t number = 0;
  if (!parse(std::string_view{*text}.substr(0, digits), number))
    return false;
  for (const auto& one : units) {
    if (text->substr(digits) != one.name)
      continue;
    if (number > (std::uint64_t{1} << 62) / one.bytes
        || !within(static_cast<double>(number * one.bytes), allowed))
      return false;
    into = {number * one.bytes};
    return true;
  }
  return false;
}

bool assign(const written& from, const bounds& allowed, milliseconds& into) {
  std::uint64_t number = 0;
  if (!whole(from, number) || number > (std::uint64_t{1} << 40)
      || !within(static_cast<double>(number), allowed))
    return false;
  into = milliseconds{number};
  return true;
}

bool assign(const written& from, const bounds& allowed,
            std::vector<std::string>& into) {
  auto texts = std::get_if<std::vector<std::string>>(&from.value);
  std::vector<std::string> several;
  if (const auto* text = std::get_if<std::string>(&from.value); text && from.is_bare) {
    for (std::size_t begin = 0; begin <= text->size();) {
      auto end = std::min(text->find(',', begin), text->size());
      several.push_back(text->substr(begin, end - begin));
      begin = end + 1;
    }
  } else if (texts) {
    several = *texts;
  } else {
    return false;
  }
  std::string one;
  for (const auto& text : several)
    if (text.empty() || !assign({text}, allowed, one))
      return false;
  if (several.size() > texts_max)
    return false;
  into = std::move(several);
  return true;
}

// -- expected -----------------------------------------------------------------

std::string expected(const bounds& allowed, const std::string&) {
  if (const auto* choice = std::get_if<one_of>(&allowed))
    return one_of_text(*choice);
  if (const auto* form = std::get_if<of_form>(&allowed))
    return form->what;
  return "a text";
}

std::string expected(const bounds& allowed, const count&) {
  return "a whole number" + range_text(allowed, show_number);
}

std::string expected(const bounds& allowed, const double&) {
  return "a number" + range_text(allowed, show_number);
}

std::string expected(const bounds&, const bool&) {
  return "true or false";
}

std::string expected(const bounds& allowed, const byte_size&) {
  return "a size such as \"2GiB\"," + range_text(allowed, show_bytes);
}

std::string expected(const bounds& allowed, const milliseconds&) {
  return "a whole number of milliseconds" + range_text(allowed, show_number);
}

std::string expected(const bounds&, const std::vector<std::string>&) {
  return "a list of texts, none of them empty";
}

// -- as_toml ------------------------------------------------------------------

std::string as_toml(const std::string& value) {
  std::string text = "\"";
  for (unsigned char letter : value) {
    if (letter == '"' || letter == '\\') {
      text += '\\';
      text += static_cast<char>(letter);
    } else if (letter < 0x20 || letter == 0x7f) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04X", letter);
      text += escaped.data();
    } else {
      text += static_cast<char>(letter);
    }
  }
  return text + '"';
}

std::string as_toml(const count& value) {
  return std::to_string(value);
}

std::string as_toml(const double& value) {
  std::array<char, 32> text{};
  auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  std::string shortest{text.data(), end};
  // TOML takes a number without these for an integer.
  return shortest.find_first_of(".e") == std::string::npos ? shortest + ".0" : shortest;
}

std::string as_toml(const bool& value) {
  return value ? "true" : "false";
}

std::string as_toml(const byte_size& value) {
  return '"' + show_size(value.bytes) + '"';
}

std::string as_toml(const milliseconds& value) {
  return std::to_string(value.count());
}

std::string as_toml(const std::vector<std::string>& value) {
  std::string text;
  for (const auto& one : value)
    text += (text.empty() ? "" : ", ") + as_toml(one);
  return '[' + text + ']';
}

std::string shown(const written& value) {
  std::size_t length_max = 80;
  auto text = std::visit(
    [](const auto& one) -> std::string {
      if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::int64_t>)
        return std::to_string(one);
      else
        return as_toml(one);
    },
    value.value);
  if (text.size() <= length_max)
    return text;
  while ((text[length_max] & 0xc0) == 0x80)
    --length_max; // not inside a letter
  return text.substr(0, length_max) + "...";
}

} // namespace perigee::cluster
