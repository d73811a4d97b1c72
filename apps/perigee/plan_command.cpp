#include "apps/perigee/command.hpp"
#include "apps/perigee/compare/cluster_shape.hpp"
#include "apps/perigee/compare/variant.hpp"
#include "apps/perigee/logging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace perigee::app {
namespace {

struct plan_arguments {
  topology_source topology;
  std::string hardware;
  double attain_percent = 99;
  std::uint32_t nodes_max = 128;
  variant_settings all;
};

exit_code misuse(const std::string& why) {
  std::fprintf(stderr, "perigee plan: %s\n", why.c_str());
  return exit_code::misused;
}

std::string name_of(cluster_size size) {
  return fmt::format("{}P+{}D", size.prefill, size.decode);
}

decimal share_of(const compared_run& run) {
  return find(run.all, "goodput.percent").value();
}

/// All runs that a plan took, in their order.
class planner {
public:
  planner(const plan_arguments& how, cluster_shape shape, model_outline outline,
          std::shared_ptr<spdlog::logger> log)
    : how_(how), shape_(std::move(shape)), outline_(std::move(outline)),
      log_(std::move(log)) {}

  result<std::vector<bool>, std::string> attempt(std::span<const cluster_size> sizes) {
    std::vector<variant> some;
    for (auto size : sizes)
      some.push_back({name_of(size),
                      {how_.topology.path, shape_.make(size), outline_},
                      how_.all.trace});
    auto runs = run_variants(some, how_.all, log_, "plan");
    if (!runs)
      return failure(std::string{"not all clusters could be tried"});
    std::vector<bool> enough;
    for (auto& run : *runs) {
      enough.push_back(is_enough(run));
      runs_.push_back(std::move(run));
    }
    return enough;
  }

  const std::vector<compared_run>& runs() const {
    return runs_;
  }
  const compared_run& of(cluster_size size) const {
    return *std::find_if(runs_.begin(), runs_.end(),
                         [&](const auto& one) { return one.name == name_of(size); });
  }

private:
  bool is_enough(const compared_run& run) const {
    return share_of(run).scaled >= to_decimal(how_.attain_percent, 4).scaled;
  }

  const plan_arguments& how_;
  cluster_shape shape_;
  model_outline outline_;
  std::shared_ptr<spdlog::logger> log_;
  std::vector<compared_run> runs_;
};

std::string verdict(const planner& all, const plan_arguments& how,
                    std::vector<cluster_size> found) {
  if (found.empty())
    return fmt::format("no cluster of up to {} nodes of each kind reaches {} %\n",
                       how.nodes_max, how.attain_percent);
  auto best = *std::max_element(found.begin(), found.end(), [&](auto a, auto b) {
    return share_of(all.of(a)).scaled < share_of(all.of(b)).scaled;
  });
  return fmt::format("{} nodes are enough: {} for prefill and {} for decode reach "
                     "{} %, of {} % wanted\n",
                     best.nodes(), best.prefill, best.decode,
                     to_string(rounded(share_of(all.of(best)), 2)), how.attain_percent);
}

exit_code run(const plan_arguments& how, const session& all) {
  if (!how.all.goodput.any())
    return misuse("what is good? --goodput says so, as in ttft:2000,tpot:25");
  exit_code left{};
  auto what = load_subject(how.topology, "plan", left);
  if (!what)
    return left;
  auto shape = cluster_shape::of(what->topology, how.hardware);
  if (!shape)
    return misuse(how.topology.path + ": " + shape.error());
  planner runs{how, std::move(*shape), what->outline, make_log(all.log_level)};
  cluster_search search{how.nodes_max, [&](auto sizes) { return runs.attempt(sizes); }};
  auto found = search.run();
  if (!found)
    return exit_code::failed; // which was said
  if (how.all.json != "-") {
    std::fputs(to_rows(runs.runs(), "cluster").c_str(), stdout);
    std::fputs(('\n' + verdict(runs, how, *found)).c_str(), stdout);
  }
  bool good
    = how.all.json.empty() || write_report(to_json(runs.runs()), how.all.json, "plan");
  return good && !found->empty() ? exit_code::good : exit_code::failed;
}

} // namespace

void add_plan(CLI::App& to, session& all) {
  auto how = std::make_shared<plan_arguments>();
  auto* plan = to.add_subcommand(
    "plan",
    "Find the smallest cluster of a shape that serves a trace well enough, and show "
    "the replays that it took");
  plan->footer("Example:\n"
               "  perigee plan c.toml t.jsonl --goodput ttft:5000,tpot:50 --attain 99");
  add_topology_arguments(*plan, how->topology);
  plan->add_option("TRACE", how->all.trace.file, "A trace in Mooncake's format")
    ->required();
  plan
    ->add_option("--attain", how->attain_percent,
                 "What share of all requests must be good, in %")
    ->check(CLI::Range(0.0, 100.0))
    ->capture_default_str();
  plan->add_option("--hardware", how->hardware,
                   "What all engines stand for: a [hardware.NAME] of the topology");
  plan->add_option("--nodes-max", how->nodes_max, "At most so many of each kind")
    ->check(CLI::Range(1u, 10'000u))
    ->capture_default_str();
  add_variant_options(*plan, how->all);
  plan->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
