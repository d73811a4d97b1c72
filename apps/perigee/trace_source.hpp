/// \file
/// The trace that a command line names.
#pragma once

#include "schemas/result.hpp"
#include "workload/cut.hpp"
#include "workload/divided_source.hpp"
#include "workload/mooncake_reader.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

namespace perigee::app {

/// A trace in a file, and what of it is wanted.
struct trace_source {
  std::string file;
  bool lenient = false;
  std::optional<std::size_t> first;
  double from = 0; ///< In seconds.
  std::optional<double> to;
  double speed = 1;
  std::uint32_t lengths_divided_by = 1;

  workload::strictness how() const {
    return lenient ? workload::strictness::lenient : workload::strictness::strict;
  }
  workload::cut part() const;
};

/// Adds the options that fill `into`, which outlives the parsing; but not the file.
void add_trace_options(CLI::App& to, trace_source& into);

/// Adds --divide-lengths. Only for those who serve the trace: ids of blocks then stand for
/// fewer tokens, which its format can't say.
void add_divide_lengths(CLI::App& to, trace_source& into);

/// A trace of Mooncake's format that is being read.
class open_trace_file {
public:
  explicit open_trace_file(const trace_source& from);

  workload::request_source& requests() {
    return divided_;
  }
  const workload::skip_counts& skipped() const {
    return reader_.skipped();
  }

  /// How much of the file was read, from 0 to 1.
  double share_read();

private:
  std::uintmax_t bytes_;
  std::ifstream file_;
  workload::mooncake_reader reader_;
  workload::cut_source part_;
  workload::divided_source divided_;
};

/// Fails with a sentence that names the file.
result<std::unique_ptr<open_trace_file>, std::string>
open_trace(const trace_source& from);

/// On stderr, in the name of `command`, what a lenient reader passed over.
void say_skipped(const char* command, const workload::skip_counts& skipped);

} // namespace perigee::app
