#include "apps/perigee/topology_source.hpp"

#include "actors/cluster/topology_reader.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>

namespace perigee::app {
namespace {

using cluster::bad_input;
using cluster::complaints;

/// At most one byte more than a topology may have.
std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string text(cluster::topology_bytes_max + 1, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof())
    return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// By its first bytes, so that the name does not matter.
bool is_model(const std::string& text) {
  return text.starts_with("GGUF");
}

result<std::vector<cluster::override_>, complaints>
overrides_of(const std::vector<std::string>& settings) {
  std::vector<std::string> environment;
  for (char** line = environ; *line; ++line)
    environment.emplace_back(*line);
  auto all = cluster::overrides_in(environment, {"PERIGEE_LOG_LEVEL"});
  for (const auto& one : settings) {
    if (!all)
      break;
    auto last = cluster::to_override(one);
    if (!last)
      return failure(last.error());
    all->push_back(*last);
  }
  return all;
}

result<cluster::topology, complaints> read(const topology_source& from) {
  auto overrides = overrides_of(from.settings);
  if (!overrides)
    return failure(overrides.error());
  auto text = read_file(from.path);
  if (!text)
    return failure(
      complaints{{bad_input::code::unreadable,
                  from.path,
                  0,
                  {},
                  std::string{"cannot be read ("} + std::strerror(errno) + ")",
                  "a topology file, or a model in GGUF",
                  {}}});
  cluster::reading how{from.path, std::move(*overrides), engine_names()};
  return is_model(*text) ? cluster::adjust(cluster::laptop(from.path), how)
                         : cluster::read_topology(*text, how);
}

} // namespace

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> all{"cpu", "modelled"};
  return all;
}

void add_topology_arguments(CLI::App& to, topology_source& into) {
  to.add_option("TOPOLOGY|MODEL.gguf", into.path,
                "A topology file, or a model: then one node has all")
    ->required();
  to.add_option("--set", into.settings,
                "Overrule a setting: --set slo.ttft_ms=500 (docs/topology.md lists "
                "them); may be repeated")
    ->take_all()
    ->allow_extra_args(false);
}

std::optional<cluster::topology> load(const topology_source& from) {
  auto got = read(from);
  if (got)
    return std::move(*got);
  std::fputs(to_string(got.error()).c_str(), stderr);
  return std::nullopt;
}

} // namespace perigee::app
