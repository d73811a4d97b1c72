/// \file
/// Reads one parameter after another from a JSON object. For .cpp files only:
/// Boost.JSON is not cheap to include.
#pragma once

#include "actors/gateway/api_error.hpp"
#include "actors/gateway/json_reader.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perigee::gateway {

namespace json = boost::json;

/// Nothing, or what is wrong.
using fault = std::optional<api_error>;

fault wrong_type(std::string_view where, std::string_view expected);
fault wrong_value(std::string_view where, std::string_view expected);
fault must_not_be_empty(std::string_view where);
fault missing(std::string_view where, std::string_view expected);
fault not_supported(std::string_view where, std::string_view why);

/// `messages` and 3 give `messages[3]`.
std::string item(std::string_view list, std::size_t index);
/// `messages[3]` and `role` give `messages[3].role`; an empty `object` gives `role`.
std::string member(std::string_view object, std::string_view name);

// Each sets `out` from `value`, or says why not. A number that is whole may be written
// as 1.0; true is no number.
fault read_bool(bool& out, const json::value& value, std::string_view where);
fault read_whole(std::int64_t& out, const json::value& value, std::string_view where,
                 std::int64_t lowest, std::int64_t highest);
fault read_number(double& out, const json::value& value, std::string_view where);
fault read_text(std::string& out, const json::value& value, std::string_view where,
                std::size_t bytes_max);

/// How many single edits lead from one to the other; the case of letters is none.
std::size_t edits_between(std::string_view one, std::string_view other);

/// A name longer than that is not compared.
inline constexpr std::size_t compared_max = 40;

/// Of `known`, a map by name, the name that is closest to `key`, whatever the case of
/// its letters; empty if none is close.
template <class Known>
std::string_view nearest_of(std::string_view key, const Known& known) {
  std::string_view best;
  if (key.size() > compared_max)
    return best;
  std::size_t least = compared_max;
  for (const auto& [name, _] : known) {
    auto edits = edits_between(key, name);
    if (edits <= std::min(key.size(), name.size()) / 3 && edits < least) {
      least = edits;
      best = name;
    }
  }
  return best;
}

fault unknown_parameter(std::string_view key, std::string_view nearest);

template <class Known>
fault unknown_parameter(std::string_view key, const Known& known) {
  return unknown_parameter(key, nearest_of(key, known));
}

} // namespace perigee::gateway
