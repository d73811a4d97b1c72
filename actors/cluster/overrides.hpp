/// \file
/// overrides: what environment and command line put over a topology file.
#pragma once

#include "actors/cluster/bad_input.hpp"
#include "schemas/result.hpp"

#include <string>
#include <vector>

namespace perigee::cluster {

/// A setting from outside the file. Of the sections that stand once.
struct override_ {
  std::string key;  ///< Such as "slo.ttft_ms".
  std::string text; ///< Bare: 500, 2GiB, true, lru; a list's items with commas between.
  std::string from; ///< "environment", or "command line".
};

/// What of `environment`, lines of "NAME=value", is meant for us: PERIGEE_SLO_TTFT_MS
/// is "slo.ttft_ms". A name in `others`, or that begins with PERIGEE_TEST_, is somebody
/// else's; any other that begins with PERIGEE_ is a mistake.
result<std::vector<override_>, complaints>
overrides_in(const std::vector<std::string>& environment,
             const std::vector<std::string>& others);

/// "slo.ttft_ms=500", as the command line has it.
result<override_, complaints> to_override(const std::string& assignment);

} // namespace perigee::cluster
