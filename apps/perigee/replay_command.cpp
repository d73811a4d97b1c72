#include "apps/perigee/command.hpp"
#include "apps/perigee/journal_keeper.hpp"
#include "apps/perigee/logging.hpp"
#include "apps/perigee/replay_run.hpp"

#include <cmath>
#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

constexpr std::size_t seeds_max = 1000;

struct replay_arguments {
  topology_source topology;
  trace_source trace;
  journal_options journal;
  std::uint64_t seed = 1;
  std::size_t seeds = 1;
  double read_every_s = 1;
  goodput_limits goodput;
  std::string json; // files; empty: none
  std::string csv;
  std::string html;
};

exit_code fail(const std::string& why) {
  std::fprintf(stderr, "perigee replay: %s\n", why.c_str());
  return exit_code::failed;
}

told_run told_of(const replay_arguments& how, const replay_subject& what) {
  const auto& slo = what.topology.slo;
  return {how.topology.path,
          how.trace.file,
          how.seed,
          {{slo.ttft, slo.tbt}, how.goodput},
          told_events(what.topology)};
}

replay_settings settings_of(const replay_arguments& how, std::size_t run) {
  replay_settings made;
  made.seed = how.seed + run;
  made.read_every = std::chrono::nanoseconds{std::llround(how.read_every_s * 1e9)};
  return made;
}

/// The table stands on stdout unless something else does.
bool leaves_table(const replay_arguments& how) {
  return how.json != "-" && how.csv != "-" && how.html != "-";
}

exit_code report(const replay_arguments& how, const replayed& done,
                 const told_run& what) {
  auto all = figures_of(done, what.by);
  if (leaves_table(how))
    std::fputs(to_table(all, what).c_str(), stdout);
  bool good = true;
  auto write = [&](const std::string& file, auto text) {
    good = (file.empty() || write_report(text(), file, "replay")) && good;
  };
  write(how.json, [&] { return to_json(all, done, what); });
  write(how.csv, [&] { return to_csv(done.outcomes); });
  write(how.html, [&] { return to_html(all, done, what); });
  return good ? exit_code::good : exit_code::failed;
}

exit_code run_once(const replay_arguments& how, const replay_subject& what,
                   const std::shared_ptr<spdlog::logger>& log) {
  auto keeper = journal_keeper::open(
    how.journal, {what.topology.cluster.control, 1, true}, what.topology, log);
  if (!keeper)
    return fail(keeper.error());
  auto done = replay_file(what, how.trace, settings_of(how, 0), log, "replay",
                          (*keeper)->record());
  keeper->reset(); // and all it has to write
  return done ? report(how, *done, told_of(how, what)) : fail(done.error());
}

exit_code run_repeatedly(const replay_arguments& how, const replay_subject& what,
                         const std::shared_ptr<spdlog::logger>& log) {
  auto told = told_of(how, what);
  std::vector<figures> all;
  for (std::size_t i = 0; i < how.seeds; ++i) {
    auto done = replay_file(what, how.trace, settings_of(how, i), log, "replay",
                            rt::no_journal());
    if (!done)
      return fail(done.error());
    all.push_back(figures_of(*done, told.by));
  }
  auto repeated = repeat(all);
  if (leaves_table(how))
    std::fputs(to_table(repeated, told, how.seeds).c_str(), stdout);
  bool good = how.json.empty()
              || write_report(to_json(repeated, told, how.seeds), how.json, "replay");
  return good ? exit_code::good : exit_code::failed;
}

exit_code run(const replay_arguments& how, const session& all) {
  exit_code left{};
  auto what = load_subject(how.topology, "replay", left, how.trace.lengths_divided_by);
  if (!what)
    return left;
  auto log = make_log(all.log_level);
  return how.seeds == 1 ? run_once(how, *what, log) : run_repeatedly(how, *what, log);
}

void add_outputs(CLI::App& to, replay_arguments& how) {
  auto* seeds
    = to.add_option("--seeds", how.seeds,
                    "So many runs, with seeds from --seed on: what each figure comes "
                    "to, and how far it spreads")
        ->check(CLI::Range(std::size_t{1}, seeds_max))
        ->capture_default_str();
  to.add_option("--json", how.json,
                "All figures, and the cluster over time, as one JSON object; - is "
                "stdout, in place of the table")
    ->type_name("FILE");
  to.add_option("--csv", how.csv,
                "A line for each request; - is stdout, in place of the table")
    ->type_name("FILE")
    ->excludes(seeds);
  to.add_option(
      "--html", how.html,
      "All of it as plots, on one page that needs no other file; - is stdout, "
      "in place of the table")
    ->type_name("FILE")
    ->excludes(seeds);
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
  add_nodes(*replay, how->topology);
  replay->add_option("TRACE", how->trace.file, "A trace in Mooncake's format")
    ->required();
  add_trace_options(*replay, how->trace);
  add_divide_lengths(*replay, how->trace);
  replay->add_option("--seed", how->seed, "Decides all that is not decided otherwise")
    ->capture_default_str();
  add_journal_options(*replay, how->journal);
  add_goodput(*replay, how->goodput);
  add_outputs(*replay, *how);
  replay
    ->add_option("--read-every", how->read_every_s,
                 "How often the cluster is looked at, in virtual seconds; a long run "
                 "is looked at less often")
    ->check(CLI::Range(0.001, 86'400.0))
    ->capture_default_str();
  replay->get_option("--journal")->excludes("--seeds"); // one journal is of one run
  replay->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
