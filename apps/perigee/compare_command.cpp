#include "apps/perigee/command.hpp"
#include "apps/perigee/compare/variant.hpp"
#include "apps/perigee/logging.hpp"

#include <cstdio>

namespace perigee::app {
namespace {

struct compare_arguments {
  std::vector<std::string> files; ///< The last is the trace.
  std::vector<std::string> settings;
  variant_settings all;
};

/// The text as it stands on the command line, without folders.
std::string name_of(const std::string& text) {
  auto comma = std::min(text.find(','), text.size());
  auto slash = text.rfind('/', comma);
  return slash == std::string::npos ? text : text.substr(slash + 1);
}

exit_code run(compare_arguments how, const session& all) {
  how.all.trace.file = how.files.back();
  how.files.pop_back();
  std::vector<variant> some;
  for (const auto& text : how.files) {
    auto from = to_topology_source(text);
    from.settings.insert(from.settings.begin(), how.settings.begin(),
                         how.settings.end());
    exit_code left{};
    auto what = load_subject(from, "compare", left);
    if (!what)
      return left;
    some.push_back({name_of(text), std::move(*what), how.all.trace});
  }
  auto runs = run_variants(some, how.all, make_log(all.log_level), "compare");
  if (!runs)
    return exit_code::failed;
  if (how.all.json != "-")
    std::fputs(to_columns(*runs).c_str(), stdout);
  bool good
    = how.all.json.empty() || write_report(to_json(*runs), how.all.json, "compare");
  return good ? exit_code::good : exit_code::failed;
}

} // namespace

void add_compare(CLI::App& to, session& all) {
  auto how = std::make_shared<compare_arguments>();
  auto* compare = to.add_subcommand(
    "compare",
    "Replay a trace on several clusters, and show side by side what they do");
  compare->footer(
    "Example:\n"
    "  perigee compare a.toml b.toml b.toml,policy.placement=random t.jsonl");
  compare
    ->add_option(
      "TOPOLOGY... TRACE", how->files,
      "Topology files, each with settings of its own behind commas, if any, "
      "and nodes=6+2 (or nodes=16, of coupled ones) for so many of its nodes; "
      "and a trace in Mooncake's format")
    ->required()
    ->expected(2, 64);
  compare
    ->add_option("--set", how->settings,
                 "Overrule a setting in all of them: --set slo.ttft_ms=500")
    ->take_all()
    ->allow_extra_args(false);
  add_variant_options(*compare, how->all);
  compare->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
