/// \file
/// A topology and a trace from the command line, replayed.
#pragma once

#include "apps/perigee/command.hpp"
#include "apps/perigee/model.hpp"
#include "apps/perigee/replay/report.hpp"
#include "apps/perigee/topology_source.hpp"
#include "apps/perigee/trace_source.hpp"

#include <spdlog/logger.h>

#include <memory>
#include <string>

namespace perigee::app {

/// A cluster that can be replayed.
struct replay_subject {
  std::string file;
  cluster::topology topology;
  model_outline outline;
};

/// What `from` describes, with_long_runs(). Else says why not on stderr, in the name of `command`, and
/// leaves the exit code in `left`.
std::optional<replay_subject> load_subject(const topology_source& from,
                                           const char* command, exit_code& left,
                                           std::uint32_t lengths_divided_by = 1);

/// Adds --nodes, which fills `into.nodes`.
void add_nodes(CLI::App& to, topology_source& into);

/// Replays what `trace` names on `what`, a bar on the terminal meanwhile. `record` is
/// told what actors say. Fails with a sentence.
result<replayed, std::string> replay_file(const replay_subject& what,
                                          const trace_source& trace,
                                          const replay_settings& how,
                                          std::shared_ptr<spdlog::logger> log,
                                          const char* command, rt::journal& record);

/// Writes `text` to `file`, or to stdout if that is "-". False, and said on stderr, if
/// that cannot be.
bool write_report(const std::string& text, const std::string& file,
                  const char* command);

/// Adds --goodput, which fills `into`.
void add_goodput(CLI::App& to, goodput_limits& into);

} // namespace perigee::app
