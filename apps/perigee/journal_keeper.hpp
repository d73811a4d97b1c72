/// \file
/// journal_keeper: what actors tell their journal, on disk.
#pragma once

#include "actors/runtime/journal.hpp"
#include "journal/writer.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <vector>

namespace perigee::cluster {
struct topology;
}

namespace perigee::app {

/// What a command line says of it.
struct journal_options {
  std::string folder; ///< Empty: none is kept.
  std::uint64_t total_bytes = std::uint64_t{1} << 30;
  std::uint64_t segment_bytes = std::uint64_t{32} << 20;
  bool is_plain = false;
};

/// Adds the options that fill `into`, which outlives the parsing.
void add_journal_options(CLI::App& to, journal_options& into);

/// The arguments that have another process keep one like `how`: in the same folder, in
/// which each process has its own.
void add_journal_arguments(std::vector<std::string>& to, const journal_options& how);

/// The process that keeps it.
struct journal_owner {
  std::string node;
  std::uint64_t life = 0;
  bool is_virtual = false; ///< In virtual time, on one thread: equal runs, equal bytes.
};

/// Puts what it is told into a journal. Without one, costs next to nothing.
class journal_keeper {
public:
  /// Fails with a sentence. Says in `log`, once, if the disk takes no more later on.
  static result<std::unique_ptr<journal_keeper>, std::string>
  open(const journal_options& how, const journal_owner& whose,
       const cluster::topology& all, std::shared_ptr<spdlog::logger> log);

  /// Writes what is left, and says what is not there. After the last actor's end.
  ~journal_keeper();
  journal_keeper(const journal_keeper&) = delete;
  journal_keeper& operator=(const journal_keeper&) = delete;

  /// For `rt::world`. Lives as long as this.
  rt::journal& record() const {
    return *record_;
  }

private:
  journal_keeper(std::unique_ptr<journal::writer> to,
                 std::shared_ptr<spdlog::logger> log);

  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<journal::writer> writer_;
  std::unique_ptr<rt::journal> ear_;
  rt::journal* record_;
};

} // namespace perigee::app
