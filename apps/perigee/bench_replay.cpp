#include "apps/perigee/bench_replay.hpp"

#include "apps/perigee/compare/cluster_shape.hpp"
#include "apps/perigee/logging.hpp"
#include "apps/perigee/replay_run.hpp"
#include "workload/cut.hpp"
#include "workload/like_generator.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

using seconds = std::chrono::duration<double>;

struct wishes {
  topology_source topology;
  std::string trace; ///< A file; empty: an hour is generated.
  std::size_t runs = 3;
  bool day = false;
};

/// What one run took.
struct measure {
  std::size_t requests = 0;
  double virtual_s = 0;
  double wall_s = 0;
  double processor_s = 0;

  double ratio() const {
    return virtual_s / wall_s;
  }
};

constexpr std::size_t day_requests = 1'000'000;
constexpr double day_s = 24 * 3600;
constexpr std::size_t day_nodes = 100; // of either kind

// As many in an hour as the conversation trace of Mooncake (FAST'25, table 2).
constexpr std::size_t hour_requests = 12'031;
constexpr double hour_s = 3536.999;

double processor_seconds() {
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  auto in_s
    = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  return in_s(now.ru_utime) + in_s(now.ru_stime);
}

/// Of the process, since it began.
double peak_mib() {
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  return double(now.ru_maxrss) / 1024; // which is in KiB
}

template <class Replay>
result<measure, std::string> time_of(Replay run) {
  auto began = std::chrono::steady_clock::now();
  auto processor_began = processor_seconds();
  result<replayed, std::string> done = run();
  if (!done)
    return failure(done.error());
  return measure{done->outcomes.size(), seconds{done->lasted}.count(),
                 seconds{std::chrono::steady_clock::now() - began}.count(),
                 processor_seconds() - processor_began};
}

exit_code fail(const std::string& why) {
  std::fprintf(stderr, "perigee bench replay: %s\n", why.c_str());
  return exit_code::failed;
}

void print_head() {
  fmt::print("{:<24}{:>10}{:>12}{:>10}{:>12}{:>14}{:>10}\n", "", "requests",
             "virtual s", "wall s", "processor s", "virtual/wall", "peak MiB");
}

void print(const std::string& name, std::vector<measure> all) {
  std::ranges::sort(all, {}, &measure::wall_s);
  const auto& median = all[all.size() / 2];
  fmt::print("{:<24}{:>10}{:>12.0f}{:>10.2f}{:>12.2f}{:>14.0f}{:>10.0f}\n", name,
             median.requests, median.virtual_s, median.wall_s, median.processor_s,
             median.ratio(), peak_mib());
  std::fflush(stdout);
}

exit_code run(const wishes& how, const session& all) {
  exit_code left{};
  auto what = load_subject(how.topology, "bench replay", left);
  if (!what)
    return left;
  auto log = make_log(all.log_level);
  auto generated = [&](const cluster::topology& of, std::size_t requests, double rate) {
    workload::like_generator source{*workload::find_likeness("conversation"), 1, rate};
    workload::cut_source part{source, {.first = requests}};
    return replay(
      of, what->outline, part, {}, log, [](auto, auto) {}, rt::no_journal());
  };
  trace_source file;
  file.file = how.trace;
  auto hour = [&] {
    return how.trace.empty()
             ? generated(what->topology, hour_requests, hour_requests / hour_s)
             : replay_file(*what, file, {}, log, "bench replay", rt::no_journal());
  };
  std::vector<measure> runs;
  print_head();
  for (std::size_t i = 0; i < how.runs; ++i) {
    auto took = time_of(hour);
    if (!took)
      return fail(took.error());
    runs.push_back(*took);
  }
  print(how.trace.empty() ? "an hour" : "the trace", runs);
  if (!how.day)
    return exit_code::good;
  auto shape = cluster_shape::of(what->topology, "");
  if (!shape)
    return fail(shape.error());
  auto large = shape->make({day_nodes, day_nodes});
  auto took
    = time_of([&] { return generated(large, day_requests, day_requests / day_s); });
  if (!took)
    return fail(took.error());
  print("a day, 100 + 100 nodes", {*took});
  return exit_code::good;
}

} // namespace

void add_bench_replay(CLI::App& to, session& all) {
  auto how = std::make_shared<wishes>();
  auto* bench = to.add_subcommand(
    "replay",
    "How much faster than time itself a cluster is replayed here, on one core");
  add_topology_arguments(*bench, how->topology);
  bench->add_option("TRACE", how->trace,
                    "A trace in Mooncake's format; left out, an hour like the "
                    "conversation trace of Mooncake's paper is generated");
  bench->add_option("--runs", how->runs, "So many runs; the median is shown")
    ->check(CLI::Range(std::size_t{1}, std::size_t{100}))
    ->capture_default_str();
  bench->add_flag(
    "--day", how->day,
    "Also a generated day of 1,000,000 requests on 100 nodes that prefill "
    "and 100 that decode, once: takes minutes");
  bench->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
