/// \file
/// Reads a topology: from a file's text, with what environment and command line put
/// over it.
#pragma once

#include "actors/cluster/bad_input.hpp"
#include "actors/cluster/overrides.hpp"
#include "actors/cluster/topology.hpp"
#include "schemas/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace perigee::cluster {

inline constexpr std::size_t topology_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t nodes_max = 4096;
inline constexpr std::size_t links_max = 4096;
inline constexpr std::size_t events_max = 1024;
inline constexpr std::size_t owners_per_node_max = 64; ///< Groups, or instances.

struct reading {
  std::string file; ///< Where the text is from: for errors, and for relative paths.
  std::vector<override_> overrides; ///< A later one of the same key wins.
  std::vector<std::string> engines{"cpu", "modelled"}; ///< That the program has.
};

/// The topology that `text` describes, complete and without contradiction; or all that
/// is wrong with it, up to a limit. Never throws on account of `text`.
result<topology, complaints> read_topology(std::string_view text, const reading& how);

/// The same for no file at all: `base`, with the overrides put over it.
result<topology, complaints> adjust(topology base, const reading& how);

} // namespace perigee::cluster
