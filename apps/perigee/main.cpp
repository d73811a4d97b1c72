#include "apps/perigee/command.hpp"
#include "apps/perigee/logging.hpp"

#include <cstdio>
#include <exception>

namespace perigee::app {
namespace {

constexpr auto opening = R"(Perigee serves large language models: prefill and decode in
separate pools, one pool of cached KV, and a conductor that places every request.

  perigee serve model.gguf       serve a model on this machine, at http://127.0.0.1:8000
  perigee node                   run one node of a cluster of several processes
  perigee certs                  make certificates and keys for its nodes
  perigee init                   write a topology file to start from
  perigee check topology.toml    say what a topology file means
  perigee workload generate      make a request trace
  perigee replay                 serve a trace in virtual time
  perigee compare                replay it on several clusters, side by side
  perigee sweep                  replay it while one setting varies
  perigee plan                   find the smallest cluster that serves it well enough
  perigee trace                  say what happened, from journals that both keep
)";

constexpr auto closing = R"(
Exit codes: 0 all went well; 1 something went wrong; 2 the command line or the topology
is wrong, and nothing was begun.

Every setting of a topology may be overruled by the environment: PERIGEE_SLO_TTFT_MS is
ttft_ms in [slo]. docs/topology.md lists them.)";

/// Says so if the first argument is no command: the parser would ask for one.
bool is_unknown(const CLI::App& line, int count, char** arguments) {
  if (count < 2 || arguments[1][0] == '-')
    return false;
  std::string known;
  for (const auto* one : line.get_subcommands(nullptr)) {
    if (one->get_name() == arguments[1])
      return false;
    known += (known.empty() ? "" : ", ") + one->get_name();
  }
  std::fprintf(stderr,
               "perigee: there is no command '%.64s'; there are: %s\n"
               "perigee --help tells of each.\n",
               arguments[1], known.c_str());
  return true;
}

int run(int count, char** arguments) {
  session all;
  CLI::App line{opening, "perigee"};
  line.footer(closing);
  line.require_subcommand(1);
  line.set_version_flag("--version", "perigee " PERIGEE_VERSION);
  line
    .add_option("--log-level", all.log_level,
                "How much to log: debug, info, warning, error, off")
    ->check(CLI::IsMember(log_levels()))
    ->envname("PERIGEE_LOG_LEVEL")
    ->capture_default_str();
  line.fallthrough(); // --log-level may stand behind a subcommand
  add_serve(line, all);
  add_node(line, all);
  add_drain(line, all);
  add_certs(line, all);
  add_init(line, all);
  add_check(line, all);
  add_replay(line, all);
  add_compare(line, all);
  add_sweep(line, all);
  add_plan(line, all);
  add_bench(line, all);
  add_calibrate(line, all);
  add_trace(line, all);
  add_workload(line, all);
  if (is_unknown(line, count, arguments))
    return static_cast<int>(exit_code::misused);
  try {
    line.parse(count, arguments);
  } catch (const CLI::ParseError& end) { // of --help and --version, too
    bool is_right = line.exit(end) == 0;
    return static_cast<int>(is_right ? exit_code::good : exit_code::misused);
  }
  return static_cast<int>(all.left);
}

} // namespace
} // namespace perigee::app

int main(int count, char** arguments) {
  try {
    return perigee::app::run(count, arguments);
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "perigee: %s\n", wrong.what());
    return static_cast<int>(perigee::app::exit_code::failed);
  }
}
