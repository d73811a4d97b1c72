#include "actors/cluster/overrides.hpp"

#include "actors/cluster/settings.hpp"

#include <algorithm>
#include <map>

namespace perigee::cluster {
namespace {

using code = bad_input::code;

std::string as_variable(const std::string& section, const std::string& key) {
  auto name = "PERIGEE_" + section + '_' + key;
  std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A')
                                          : letter;
  });
  return name;
}

/// The key of each variable.
std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> all;
  const topology any;
  for_each_plain_section(any,
                         [&]<class Section>(const std::string& name, const Section&) {
                           for (const auto& one : settings_of<Section>())
                             all[as_variable(name, one.key)] = name + '.' + one.key;
                         });
  return all;
}

} // namespace

result<std::vector<override_>, complaints>
overrides_in(const std::vector<std::string>& environment,
             const std::vector<std::string>& others) {
  static const auto keys = variables();
  std::vector<std::string> near;
  for (const auto& [variable, key] : keys)
    near.push_back(variable);
  std::vector<override_> found;
  complaints wrong;
  for (const auto& line : environment) {
    auto name = line.substr(0, line.find('='));
    if (!name.starts_with("PERIGEE_") || name.starts_with("PERIGEE_TEST_")
        || std::find(others.begin(), others.end(), name) != others.end())
      continue;
    if (auto key = keys.find(name); key != keys.end()) {
      auto text = name.size() < line.size() ? line.substr(name.size() + 1) : "";
      found.push_back({key->second, text, "environment"});
      continue;
    }
    wrong.push_back(
      {code::unknown_key, "environment", 0, name, {}, {}, nearest(name, near)});
  }
  if (!wrong.empty())
    return failure(std::move(wrong));
  return found;
}

result<override_, complaints> to_override(const std::string& assignment) {
  auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    return failure(complaints{{code::syntax,
                               "command line",
                               0,
                               "--set",
                               as_toml(assignment),
                               "section.key=value, such as slo.ttft_ms=500",
                               {}}});
  return override_{assignment.substr(0, equals), assignment.substr(equals + 1),
                   "command line"};
}

} // namespace perigee::cluster
