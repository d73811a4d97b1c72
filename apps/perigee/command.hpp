/// \file
/// The subcommands of `perigee`. Each adds itself to the command line; what is chosen
/// is run by the parser's callback, and leaves its exit code.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace perigee::app {

/// What a shell sees.
enum class exit_code : int {
  good = 0,
  failed = 1,  ///< What was asked for went wrong; the last line on stderr says why.
  misused = 2, ///< The command line or the topology is wrong; nothing was begun.
};

/// What all subcommands share.
struct session {
  std::string log_level = "info";
  exit_code left = exit_code::good;
};

void add_bench(CLI::App& to, session& all);
void add_calibrate(CLI::App& to, session& all);
void add_certs(CLI::App& to, session& all);
void add_check(CLI::App& to, session& all);
void add_compare(CLI::App& to, session& all);
void add_drain(CLI::App& to, session& all);
void add_init(CLI::App& to, session& all);
void add_node(CLI::App& to, session& all);
void add_plan(CLI::App& to, session& all);
void add_replay(CLI::App& to, session& all);
void add_serve(CLI::App& to, session& all);
void add_sweep(CLI::App& to, session& all);
void add_trace(CLI::App& to, session& all);
void add_workload(CLI::App& to, session& all);

} // namespace perigee::app
