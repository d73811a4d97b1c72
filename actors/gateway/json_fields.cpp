#include "actors/gateway/json_fields.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace perigee::gateway {
namespace {

std::string quoted(std::string_view name) {
  return "`" + std::string{name} + "`";
}

fault wrong(api_code code, std::string_view where, std::string_view expected) {
  return api_error{
    code, quoted(where) + " must be " + std::string{expected}, std::string{where}, {}};
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

} // namespace

fault wrong_type(std::string_view where, std::string_view expected) {
  return wrong(api_code::invalid_type, where, expected);
}

fault wrong_value(std::string_view where, std::string_view expected) {
  return wrong(api_code::invalid_value, where, expected);
}

fault must_not_be_empty(std::string_view where) {
  return api_error{api_code::invalid_value,
                   quoted(where) + " must not be empty",
                   std::string{where},
                   {}};
}

fault missing(std::string_view where, std::string_view expected) {
  return api_error{api_code::missing_parameter,
                   quoted(where) + " is missing; it must be " + std::string{expected},
                   std::string{where},
                   {}};
}

fault not_supported(std::string_view where, std::string_view why) {
  return api_error{api_code::unsupported_parameter,
                   quoted(where) + " is not supported: " + std::string{why},
                   std::string{where},
                   {}};
}

fault unknown_parameter(std::string_view key, std::string_view nearest) {
  auto name = std::string{key.substr(0, 64)};
  auto text = "there is no parameter " + quoted(name);
  if (!nearest.empty())
    text += "; did you mean " + quoted(nearest) + "?";
  return api_error{api_code::unknown_parameter, text, name, {}};
}

std::string item(std::string_view list, std::size_t index) {
  return std::string{list} + '[' + std::to_string(index) + ']';
}

std::string member(std::string_view object, std::string_view name) {
  return object.empty() ? std::string{name}
                        : std::string{object} + '.' + std::string{name};
}

fault read_bool(bool& out, const json::value& value, std::string_view where) {
  if (!value.is_bool())
    return wrong_type(where, "true or false");
  out = value.get_bool();
  return {};
}

fault read_whole(std::int64_t& out, const json::value& value, std::string_view where,
                 std::int64_t lowest, std::int64_t highest) {
  auto expected = [&] {
    return "an integer from " + std::to_string(lowest) + " to "
           + std::to_string(highest);
  };
  if (!value.is_number())
    return wrong_type(where, expected());
  if (value.is_double()) {
    constexpr double exact_max = 9007199254740992.0; // 2^53
    auto number = value.get_double();
    if (!(std::abs(number) <= exact_max))
      return wrong_value(where, expected());
    if (number != std::trunc(number))
      return wrong_type(where, expected());
    out = static_cast<std::int64_t>(number);
  } else if (value.is_uint64()) {
    return wrong_value(where, expected()); // Boost.JSON: larger than any std::int64_t
  } else {
    out = value.get_int64();
  }
  if (out < lowest || out > highest)
    return wrong_value(where, expected());
  return {};
}

fault read_number(double& out, const json::value& value, std::string_view where) {
  if (!value.is_number())
    return wrong_type(where, "a number");
  out = value.to_number<double>();
  return std::isfinite(out) ? fault{} : wrong_value(where, "a finite number");
}

fault read_text(std::string& out, const json::value& value, std::string_view where,
                std::size_t bytes_max) {
  if (!value.is_string())
    return wrong_type(where, "a string");
  const auto& text = value.get_string();
  if (text.size() > bytes_max)
    return wrong_value(where, "at most " + std::to_string(bytes_max) + " bytes long");
  out.assign(text.data(), text.size());
  return {};
}

std::size_t edits_between(std::string_view one, std::string_view other) {
  one = one.substr(0, compared_max);
  other = other.substr(0, compared_max);
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < other.size(); ++j) {
      auto changed = diagonal + (lower(one[i]) == lower(other[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

} // namespace perigee::gateway
