#include "apps/perigee/compare/variant.hpp"

#include "apps/perigee/progress_bar.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace perigee::app {
namespace {

constexpr std::size_t jobs_max = 1024;

run_result come_to(const variant& one, const variant_settings& how,
                   const std::shared_ptr<spdlog::logger>& log) {
  auto trace = open_trace(one.trace);
  if (!trace)
    return failure(trace.error());
  auto done = replay(
    one.what.topology, one.what.outline, (*trace)->requests(), how.how, log,
    [](auto, auto) {}, rt::no_journal());
  if (!done)
    return failure(done.error());
  const auto& slo = one.what.topology.slo;
  return figures_of(*done, {{slo.ttft, slo.tbt}, how.goodput});
}

} // namespace

void add_variant_options(CLI::App& to, variant_settings& into) {
  add_trace_options(to, into.trace);
  to.add_option("--seed", into.how.seed, "Decides all that is not decided otherwise")
    ->capture_default_str();
  add_goodput(to, into.goodput);
  to.add_option("--jobs", into.jobs, "How many runs at a time; else one for each core")
    ->check(CLI::Range(std::size_t{1}, jobs_max));
  to.add_option("--json", into.json,
                "All figures of all runs, as a JSON list; - is stdout, in place of the "
                "table")
    ->type_name("FILE");
}

topology_source to_topology_source(const std::string& text) {
  topology_source from;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    auto end = std::min(text.find(',', begin), text.size());
    auto part = text.substr(begin, end - begin);
    constexpr std::string_view nodes = "nodes=";
    if (begin == 0)
      from.path = part;
    else if (part.starts_with(nodes))
      from.nodes = part.substr(nodes.size());
    else
      from.settings.push_back(part);
    begin = end + 1;
  }
  return from;
}

std::optional<std::vector<compared_run>>
run_variants(const std::vector<variant>& all, const variant_settings& how,
             std::shared_ptr<spdlog::logger> log, const char* command) {
  std::vector<run_work> work;
  for (const auto& one : all)
    work.emplace_back([&one, &how, log] { return come_to(one, how, log); });
  progress_bar bar;
  auto came = run_batch(work, how.jobs, [&](std::size_t done) {
    bar.show(static_cast<double>(done) / static_cast<double>(all.size()),
             fmt::format("{} of {} runs", done, all.size()));
  });
  std::vector<compared_run> runs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!came[i]) {
      std::fprintf(stderr, "perigee %s: %s: %s\n", command, all[i].name.c_str(),
                   came[i].error().c_str());
      return std::nullopt;
    }
    runs.push_back({all[i].name, std::move(*came[i])});
  }
  return runs;
}

} // namespace perigee::app
