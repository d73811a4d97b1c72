#include "apps/perigee/trace_source.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

namespace perigee::app {

using namespace workload;

cut trace_source::part() const {
  auto nanoseconds = [](double seconds) {
    return std::chrono::nanoseconds{std::llround(seconds * 1e9)};
  };
  return {first, nanoseconds(from), to ? std::optional{nanoseconds(*to)} : std::nullopt,
          speed};
}

void add_trace_options(CLI::App& to, trace_source& into) {
  constexpr double seconds_max = 366.0 * 24 * 3600;
  to.add_flag("--lenient", into.lenient,
              "Pass over lines that are wrong, and count them; else the first one is "
              "reported and nothing follows");
  to.add_option("--first", into.first, "At most so many requests")
    ->check(CLI::Range(std::size_t{1}, std::numeric_limits<std::size_t>::max()));
  to.add_option("--from", into.from, "Only from this second on, which becomes second 0")
    ->check(CLI::Range(0.0, seconds_max))
    ->capture_default_str();
  to.add_option("--to", into.to, "Only what arrives before this second")
    ->check(CLI::Range(0.0, seconds_max));
  to.add_option(
      "--speed", into.speed,
      "2: everything arrives in half the time, and clients think half as long")
    ->check(CLI::Range(speed_min, speed_max))
    ->capture_default_str();
}

void add_divide_lengths(CLI::App& to, trace_source& into) {
  to.add_option(
      "--divide-lengths", into.lengths_divided_by,
      "Prompts and answers of a part of the length, rounded up, so that a small "
      "machine can serve them; a block is then 512/N tokens")
    ->check(
      [](const std::string& text) {
        std::uint32_t by = 0;
        bool good = CLI::detail::lexical_cast(text, by) && divides_blocks(by);
        return good ? "" : "expected a number that divides 512: 1, 2, 4, ..., 512";
      },
      "N", "N")
    ->capture_default_str();
}

namespace {

/// 0 of what is no file, such as a pipe.
std::uintmax_t size_of(const std::string& file) {
  std::error_code wrong;
  auto bytes = std::filesystem::file_size(file, wrong);
  return wrong ? 0 : bytes;
}

} // namespace

open_trace_file::open_trace_file(const trace_source& from)
  : bytes_(size_of(from.file)), file_(from.file), reader_(file_, from.file, from.how()),
    part_(reader_, from.part(), from.file), divided_(part_, from.lengths_divided_by) {}

double open_trace_file::share_read() {
  if (file_.eof())
    return 1;
  auto at = file_.tellg();
  return bytes_ == 0 || at < 0 ? 0
                               : static_cast<double>(at) / static_cast<double>(bytes_);
}

result<std::unique_ptr<open_trace_file>, std::string>
open_trace(const trace_source& from) {
  if (!std::ifstream{from.file})
    return failure(from.file + " can't be opened");
  return std::make_unique<open_trace_file>(from);
}

void say_skipped(const char* command, const skip_counts& skipped) {
  for (std::size_t i = 0; i < skipped.size(); ++i)
    if (skipped[i] > 0)
      std::fprintf(stderr, "perigee %s: skipped %zu: %s\n", command, skipped[i],
                   std::string{word(static_cast<cause>(i))}.c_str());
}

} // namespace perigee::app
