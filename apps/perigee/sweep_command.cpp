#include "apps/perigee/command.hpp"
#include "apps/perigee/compare/variant.hpp"
#include "apps/perigee/logging.hpp"

#include <cstdio>

namespace perigee::app {
namespace {

struct sweep_arguments {
  topology_source topology;
  std::string values; ///< "KEY=v1,v2"
  variant_settings all;
};

struct swept {
  std::string key;
  std::vector<std::string> values;
};

/// Nothing if it is not of that form.
std::optional<swept> to_swept(const std::string& text) {
  auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return std::nullopt;
  swept all{text.substr(0, equals), {}};
  for (auto begin = equals + 1; begin <= text.size();) {
    auto end = std::min(text.find(',', begin), text.size());
    all.values.push_back(text.substr(begin, end - begin));
    if (all.values.back().empty())
      return std::nullopt;
    begin = end + 1;
  }
  return all;
}

exit_code misuse(const std::string& why) {
  std::fprintf(stderr, "perigee sweep: %s\n", why.c_str());
  return exit_code::misused;
}

/// The trace's speed is varied as settings are, though it is none.
bool set_speed(trace_source& of, const std::string& value) {
  auto check = CLI::Range(workload::speed_min, workload::speed_max);
  auto text = value;
  return check(text).empty() && CLI::detail::lexical_cast(value, of.speed);
}

exit_code run(const sweep_arguments& how, const session& all) {
  auto over = to_swept(how.values);
  if (!over || over->values.empty())
    return misuse("'" + how.values
                  + "' is no sweep: expected a key, =, and values with commas between");
  std::vector<variant> some;
  for (const auto& value : over->values) {
    auto from = how.topology;
    auto trace = how.all.trace;
    if (over->key == "nodes")
      from.nodes = value;
    else if (over->key != "speed")
      from.settings.push_back(over->key + '=' + value);
    else if (!set_speed(trace, value))
      return misuse("speed is " + value + ": expected a number from 0.001 to 1000");
    exit_code left{};
    auto what = load_subject(from, "sweep", left);
    if (!what)
      return left;
    some.push_back({value, std::move(*what), trace});
  }
  auto runs = run_variants(some, how.all, make_log(all.log_level), "sweep");
  if (!runs)
    return exit_code::failed;
  if (how.all.json != "-")
    std::fputs(to_rows(*runs, over->key).c_str(), stdout);
  bool good
    = how.all.json.empty() || write_report(to_json(*runs), how.all.json, "sweep");
  return good ? exit_code::good : exit_code::failed;
}

} // namespace

void add_sweep(CLI::App& to, session& all) {
  auto how = std::make_shared<sweep_arguments>();
  auto* sweep = to.add_subcommand(
    "sweep", "Replay a trace on a cluster of which one setting varies: a row for each");
  sweep->footer("Example:\n"
                "  perigee sweep c.toml t.jsonl policy.eviction=lru,lfu,length_aware");
  add_topology_arguments(*sweep, how->topology);
  add_nodes(*sweep, how->topology);
  sweep->add_option("TRACE", how->all.trace.file, "A trace in Mooncake's format")
    ->required();
  sweep
    ->add_option(
      "KEY=VALUES", how->values,
      "A setting, and values with commas between; or speed, of the trace; or "
      "nodes, as in nodes=5+11,8+8")
    ->required();
  add_variant_options(*sweep, how->all);
  sweep->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
