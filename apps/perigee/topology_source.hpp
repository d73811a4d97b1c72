/// \file
/// The topology that a command line names.
#pragma once

#include "actors/cluster/topology.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace perigee::app {

struct topology_source {
  std::string path;                  ///< A topology file, or a model's.
  std::vector<std::string> settings; ///< "section.key=value"
  std::string nodes;                 ///< As with_nodes() takes them; empty: the file's.
};

/// Adds the arguments that fill `into`, which outlives the parsing.
void add_topology_arguments(CLI::App& to, topology_source& into);

/// What `from` describes, with the environment and the settings put over it. If it
/// cannot be, says on stderr what is wrong.
std::optional<cluster::topology> load(const topology_source& from);

/// What engines the program has: the names that a topology may use.
const std::vector<std::string>& engine_names();

} // namespace perigee::app
