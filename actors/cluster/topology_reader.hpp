/// \file
/// Reads a topology: from a file's text, with what environment and command line put
/// over it.
#pragma once

#include "actors/cluster/bad_input.hpp"
#include "actors/cluster/topology.hpp"
#include "schemas/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace perigee::cluster {

inline constexpr std::size_t topology_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t nodes_max = 4096;
inline constexpr std::size_t owners_per_node_max = 64; ///< Groups, or instances.

/// A setting from outside the file. Of the sections that stand once.
struct override_ {
  std::string key;  ///< Such as "slo.ttft_ms".
  std::string text; ///< Bare: 500, 2GiB, true, lru; a list's items with commas between.
  std::string from; ///< "environment", or "command line".
};

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

/// What of `environment`, lines of "NAME=value", is meant for us: PERIGEE_SLO_TTFT_MS
/// is "slo.ttft_ms". A name in `others`, or that begins with PERIGEE_TEST_, is somebody
/// else's; any other that begins with PERIGEE_ is a mistake.
result<std::vector<override_>, complaints>
overrides_in(const std::vector<std::string>& environment,
             const std::vector<std::string>& others);

/// "slo.ttft_ms=500", as the command line has it.
result<override_, complaints> to_override(const std::string& assignment);

} // namespace perigee::cluster
