#include "apps/perigee/replay_run.hpp"

#include "apps/perigee/compare/cluster_shape.hpp"
#include "apps/perigee/progress_bar.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace perigee::app {

std::optional<replay_subject> load_subject(const topology_source& from,
                                           const char* command, exit_code& left,
                                           std::uint32_t lengths_divided_by) {
  left = exit_code::misused;
  auto topology = load(from);
  if (!topology)
    return std::nullopt;
  if (!from.nodes.empty()) {
    auto counted = with_nodes(*topology, from.nodes);
    if (!counted) {
      std::fprintf(stderr, "perigee %s: %s: %s\n", command, from.path.c_str(),
                   counted.error().c_str());
      return std::nullopt;
    }
    topology = std::move(*counted);
  }
  if (auto obstacle = find_obstacle(*topology, lengths_divided_by)) {
    std::fprintf(stderr, "perigee %s: %s: %s\n", command, from.path.c_str(),
                 obstacle->c_str());
    return std::nullopt;
  }
  auto outline = read_outline(*topology);
  if (!outline) {
    left = exit_code::failed;
    std::fprintf(stderr, "perigee %s: %s\n", command, outline.error().c_str());
    return std::nullopt;
  }
  left = exit_code::good;
  return replay_subject{from.path, with_long_runs(std::move(*topology)),
                        std::move(*outline)};
}

void add_nodes(CLI::App& to, topology_source& into) {
  to.add_option("--nodes", into.nodes,
                "So many nodes in place of the file's, each like its kind there: 6+2 "
                "that prefill and that decode, or 16 coupled ones")
    ->type_name("N|P+D");
}

result<replayed, std::string> replay_file(const replay_subject& what,
                                          const trace_source& trace,
                                          const replay_settings& how,
                                          std::shared_ptr<spdlog::logger> log,
                                          const char* command, rt::journal& record) {
  auto opened = open_trace(trace);
  if (!opened)
    return failure(opened.error());
  progress_bar bar;
  auto told = [&](std::size_t sent, std::chrono::nanoseconds now) {
    if (bar.is_due())
      bar.show((*opened)->share_read(),
               fmt::format("{} requests sent, {:.0f} s of virtual time", sent,
                           std::chrono::duration<double>(now).count()));
  };
  auto done = replay(what.topology, what.outline, (*opened)->requests(), how,
                     std::move(log), told, record);
  say_skipped(command, (*opened)->skipped());
  return done;
}

bool write_report(const std::string& text, const std::string& file,
                  const char* command) {
  if (file == "-")
    return std::fputs(text.c_str(), stdout) >= 0;
  std::ofstream out{file, std::ios::binary};
  out << text;
  if (out.flush())
    return true;
  std::fprintf(stderr, "perigee %s: %s cannot be written\n", command, file.c_str());
  return false;
}

void add_goodput(CLI::App& to, goodput_limits& into) {
  to.add_option_function<std::string>(
      "--goodput",
      [&into](const std::string& text) {
        auto limits = read_goodput(text);
        if (!limits)
          throw CLI::ValidationError("--goodput", limits.error());
        into = *limits;
      },
      "Count requests whose latencies stay within these milliseconds: any of ttft, "
      "tpot, e2el, as in ttft:2000,tpot:25")
    ->type_name("LIMITS");
}

} // namespace perigee::app
