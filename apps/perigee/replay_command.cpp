#include "apps/perigee/command.hpp"
#include "apps/perigee/journal_keeper.hpp"
#include "apps/perigee/logging.hpp"
#include "apps/perigee/replay/replay.hpp"
#include "apps/perigee/replay/summary.hpp"
#include "apps/perigee/topology_source.hpp"
#include "apps/perigee/trace_source.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

struct replay_arguments {
  topology_source topology;
  trace_source trace;
  journal_options journal;
  std::uint64_t seed = 1;
  bool json = false;
};

exit_code fail(const std::string& why) {
  std::fprintf(stderr, "perigee replay: %s\n", why.c_str());
  return exit_code::failed;
}

/// A line that is written over, a few times a second; none if nobody watches.
class progress_line {
public:
  void show(std::size_t sent, std::chrono::nanoseconds virtual_time) {
    auto now = std::chrono::steady_clock::now();
    if (!watched_ || now - shown_ < std::chrono::milliseconds{200})
      return;
    shown_ = now;
    std::fprintf(stderr, "\r%zu requests sent, %.0f s of virtual time", sent,
                 std::chrono::duration<double>(virtual_time).count());
  }
  ~progress_line() {
    if (shown_ != std::chrono::steady_clock::time_point{})
      std::fputs("\r\033[K", stderr);
  }

private:
  const bool watched_ = isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point shown_;
};

exit_code run(const replay_arguments& how, const session& all) {
  auto topology = load(how.topology);
  if (!topology)
    return exit_code::misused;
  if (auto obstacle = find_obstacle(*topology)) {
    fail(how.topology.path + ": " + *obstacle);
    return exit_code::misused;
  }
  auto outline = read_outline(*topology);
  if (!outline)
    return fail(outline.error());
  auto trace = open_trace(how.trace);
  if (!trace)
    return fail(trace.error());
  auto log = make_log(all.log_level);
  auto keeper = journal_keeper::open(how.journal, {topology->cluster.control, 1, true},
                                     *topology, log);
  if (!keeper)
    return fail(keeper.error());
  progress_line line;
  auto done = replay(
    with_long_runs(*topology), *outline, (*trace)->requests(), how.seed, log,
    [&](auto sent, auto now) { line.show(sent, now); }, (*keeper)->record());
  keeper->reset(); // and all it has to write
  if (!done)
    return fail(done.error());
  say_skipped("replay", (*trace)->skipped());
  objectives kept{topology->slo.ttft, topology->slo.tbt};
  auto sum = summarize(done->outcomes, kept);
  std::fputs((how.json ? to_json(sum, kept) : to_table(sum, kept)).c_str(), stdout);
  return exit_code::good;
}

} // namespace

void add_replay(CLI::App& to, session& all) {
  auto how = std::make_shared<replay_arguments>();
  auto* replay = to.add_subcommand(
    "replay",
    "Serve a request trace in virtual time, by the actors that serve for real "
    "with engines that are modelled, and say what its clients would have seen");
  replay->footer(
    "Example:\n"
    "  perigee workload generate --like conversation --requests 500 --seed 7 "
    "> t.jsonl\n"
    "  perigee replay topologies/modelled.toml t.jsonl");
  add_topology_arguments(*replay, how->topology);
  replay->add_option("TRACE", how->trace.file, "A trace in Mooncake's format")
    ->required();
  add_trace_options(*replay, how->trace);
  replay->add_option("--seed", how->seed, "Decides all that is not decided otherwise")
    ->capture_default_str();
  add_journal_options(*replay, how->journal);
  replay->add_flag("--json", how->json, "One JSON object in place of the table");
  replay->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
