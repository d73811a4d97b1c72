#include "actors/cluster/bad_input.hpp"

#include <algorithm>
#include <numeric>

namespace perigee::cluster {
namespace {

constexpr std::size_t name_length_max = 256;

/// Letters to insert, drop, replace, or swap with their neighbour, to turn `a` into
/// `b`.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last.back();
}

} // namespace

std::string nearest(const std::string& given, const std::vector<std::string>& names) {
  std::string found;
  if (given.empty() || given.size() > name_length_max)
    return found;
  auto least = std::max<std::size_t>(given.size() / 3, 1) + 1;
  for (const auto& name : names) {
    auto far = distance(given, name);
    if (name.starts_with(given) && given.size() >= 3)
      far = 1; // an abbreviation
    if (far < least) {
      least = far;
      found = name;
    }
  }
  return found;
}

std::string to_string(const bad_input& wrong) {
  auto text = wrong.file;
  if (wrong.line > 0)
    text += ':' + std::to_string(wrong.line);
  text += ": ";
  if (!wrong.key.empty())
    text += wrong.key;
  if (!wrong.found.empty())
    text += (wrong.key.empty() ? "" : " is ") + wrong.found;
  if (wrong.what == bad_input::code::unknown_key)
    text += " is not a setting";
  if (!wrong.expected.empty())
    text += ": expected " + wrong.expected;
  if (!wrong.nearest.empty())
    text += "; did you mean \"" + wrong.nearest + "\"?";
  return text;
}

std::string to_string(const complaints& wrong) {
  std::string text;
  for (const auto& one : wrong)
    text += to_string(one) + '\n';
  return text;
}

} // namespace perigee::cluster
