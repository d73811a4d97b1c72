/// \file
/// Writes the settings down for people: as a topology file to start from, and as a page
/// of the handbook.
#pragma once

#include "actors/cluster/topology.hpp"

#include <string>

namespace perigee::cluster {

/// `all` as a commented file, which reads as `all` again. What has its default is
/// written as a comment.
std::string to_toml(const topology& all);

/// `[cost_model]`, to be added to a file.
std::string to_toml(const cost_settings& measured);

/// The same as `[hardware.NAME]`, for modelled engines.
std::string to_toml(const hardware_settings& measured, const std::string& name);

/// `all`, with every default written out, without a comment.
std::string resolved(const topology& all);

/// docs/topology.md.
std::string topology_page();

} // namespace perigee::cluster
