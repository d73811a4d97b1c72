#include "apps/perigee/replay/replay.hpp"

#include "actors/cluster/topology_reader.hpp"
#include "tests/apps/modelled_cluster.hpp"
#include "workload/cut.hpp"
#include "workload/like_generator.hpp"

#include <catch2/catch.hpp>
#include <spdlog/spdlog.h>

namespace perigee::app {
namespace {

replayed replay_some(const cluster::topology& all, std::uint64_t seed) {
  workload::like_generator made{*workload::find_likeness("conversation"), seed, 2.0};
  workload::cut_source some{made, {.first = 300}};
  auto done = replay(
    all, read_outline(all).value(), some, {.seed = seed}, spdlog::default_logger(),
    [](auto, auto) {}, rt::no_journal());
  return std::move(done.value());
}

TEST_CASE("long decode runs and single steps give every token at the same moment") {
  auto all = cluster::read_topology(modelled_cluster, {"two.toml", {}}).value();
  REQUIRE(all.policy.steps_max == 1);
  for (std::uint64_t seed : {1, 2, 3}) {
    auto by_steps = replay_some(all, seed);
    auto by_runs = replay_some(with_long_runs(all), seed);
    CHECK(by_steps.gaps == by_runs.gaps);
    const auto& steps = by_steps.outcomes;
    const auto& runs = by_runs.outcomes;
    REQUIRE(steps.size() == 300);
    REQUIRE(runs.size() == 300);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      INFO("request " << i << ", seed " << seed);
      CHECK(steps[i].how == runs[i].how);
      CHECK(steps[i].cached_tokens == runs[i].cached_tokens);
      CHECK(steps[i].output_tokens == runs[i].output_tokens);
      CHECK(steps[i].first_token == runs[i].first_token);
      CHECK(steps[i].ended == runs[i].ended);
      CHECK(steps[i].tbt == runs[i].tbt);
    }
  }
}

TEST_CASE("coupled instances take single steps, in a replay, too") {
  cluster::topology all;
  all.nodes.emplace_back().coupled_instances.emplace_back();
  CHECK(with_long_runs(all) == all);
}

} // namespace
} // namespace perigee::app
