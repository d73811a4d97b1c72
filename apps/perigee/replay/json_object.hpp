/// \file
/// json_object: JSON, written member by member.
#pragma once

#include "actors/gateway/json_text.hpp"
#include "apps/perigee/replay/figures.hpp"

#include <string>
#include <string_view>

namespace perigee::app {

/// Appends one object to a string; it is closed at its end of life.
class json_object {
public:
  explicit json_object(std::string& out) : out_(out) {
    out_ += '{';
  }
  ~json_object() {
    out_ += '}';
  }
  json_object(const json_object&) = delete;
  json_object& operator=(const json_object&) = delete;

  /// The string to which the value of `name` is to be appended.
  std::string& member(std::string_view name) {
    out_ += is_empty_ ? "\n" : ",\n";
    is_empty_ = false;
    gateway::append_json_string(out_, name);
    out_ += ':';
    return out_;
  }

  void add(std::string_view name, decimal value) {
    member(name) += to_string(value);
  }
  void add(std::string_view name, std::string_view value) {
    gateway::append_json_string(member(name), value);
  }

private:
  std::string& out_;
  bool is_empty_ = true;
};

/// Adds a member for each of `all`, which have a `name`, and one object for each group
/// of names. `value_of` gives a decimal.
template <class Named, class Value>
void add_figures(json_object& to, const std::vector<Named>& all, Value value_of) {
  for (std::size_t i = 0; i < all.size();) {
    std::string_view name = all[i].name;
    auto dot = name.find('.');
    if (dot == std::string_view::npos) {
      to.add(name, value_of(all[i++]));
      continue;
    }
    auto group = name.substr(0, dot + 1);
    json_object in{to.member(name.substr(0, dot))};
    for (; i < all.size() && all[i].name.starts_with(group); ++i)
      in.add(std::string_view{all[i].name}.substr(dot + 1), value_of(all[i]));
  }
}

} // namespace perigee::app
