/// \file
/// variant: a cluster that is compared with others, on one trace.
#pragma once

#include "apps/perigee/compare/batch.hpp"
#include "apps/perigee/compare/comparison.hpp"
#include "apps/perigee/replay_run.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace perigee::app {

struct variant {
  std::string name;
  replay_subject what;
  trace_source trace;
};

/// What all variants of a command line have in common.
struct variant_settings {
  trace_source trace;
  replay_settings how;
  goodput_limits goodput;
  std::size_t jobs = default_jobs();
  std::string json; ///< A file; empty: none.
};

/// Adds the options that fill `into`, which outlives the parsing; not the trace's name.
void add_variant_options(CLI::App& to, variant_settings& into);

/// Splits "a.toml,slo.ttft_ms=500,nodes=6+2" into a file, settings, and nodes.
topology_source to_topology_source(const std::string& text);

/// Replays all, several at a time, a bar on the terminal meanwhile. Nothing if one
/// failed, which is said on stderr in the name of `command`.
std::optional<std::vector<compared_run>>
run_variants(const std::vector<variant>& all, const variant_settings& how,
             std::shared_ptr<spdlog::logger> log, const char* command);

} // namespace perigee::app
