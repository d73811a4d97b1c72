#include "actors/cluster/topology_reader.hpp"
#include "apps/perigee/replay/replay.hpp"
#include "apps/perigee/replay/summary.hpp"
#include "tests/apps/modelled_cluster.hpp"
#include "workload/cut.hpp"
#include "workload/session_generator.hpp"

#include <catch2/catch.hpp>
#include <spdlog/spdlog.h>

#include <map>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;
using nanoseconds = std::chrono::nanoseconds;
using ending = outcome::ending;

/// Requests that a test wrote down.
class written final : public workload::request_source {
public:
  explicit written(std::vector<workload::request> all) : all_(std::move(all)) {}

  workload::next_request next() override {
    if (given_ == all_.size())
      return std::optional<workload::request>{};
    return std::optional{all_[given_++]};
  }

private:
  std::vector<workload::request> all_;
  std::size_t given_ = 0;
};

replayed replay_of(workload::request_source& trace, std::uint64_t seed = 1) {
  auto all = cluster::read_topology(modelled_cluster, {"two.toml", {}}).value();
  auto done = replay(
    with_long_runs(all), read_outline(all).value(), trace, {.seed = seed},
    spdlog::default_logger(), [](auto, auto) {}, rt::no_journal());
  return std::move(done.value());
}

std::vector<outcome> outcomes_of(std::vector<workload::request> all) {
  written trace{std::move(all)};
  return replay_of(trace).outcomes;
}

TEST_CASE("the next turn is sent its think after the answer before it, to the "
          "nanosecond") {
  auto all = outcomes_of({{0s, 600, 50, {1, 2}, 3},
                          {0s, 700, 50, {1, 3}, 3, 5s},
                          {0s, 800, 50, {1, 4}, 3, 0s},
                          {1s, 10, 1, {9}, {}, {}},
                          {60s, 900, 50, {1, 5}, 3, 1s}});
  REQUIRE(all.size() == 5);
  for (const auto& one : all)
    CHECK(one.how == ending::served);
  CHECK(all[0].arrived == 0s);
  CHECK(all[1].arrived == 1s); // has no session: the trace's fourth
  CHECK(all[2].arrived == all[0].ended + 5s);
  CHECK(all[3].arrived == all[2].ended);
  CHECK(all[4].arrived == 60s); // the think was over long before
}

TEST_CASE("a session whose turn is not served ends there, and the rest is not sent") {
  constexpr std::uint32_t too_long = 1'000'000; // for the pools there are
  auto all
    = outcomes_of({{0s, too_long, 5, std::vector<std::uint64_t>(1954, 1), 3},
                   {0s, 700, 5, {1, 3}, 3, 5s},
                   {650s, 700, 5, {1, 3}, 4}, // when the long one has had its time
                   {660s, 800, 5, {1, 4}, 3, 1s}});
  REQUIRE(all.size() == 4);
  std::map<ending, int> counts;
  for (const auto& one : all)
    ++counts[one.how];
  CHECK(counts[ending::served] == 1);
  CHECK(counts[ending::not_sent] == 2);
  auto sum = summarize(all, {});
  CHECK(sum.requests == 4);
  CHECK(sum.not_sent == 2);
  CHECK(sum.refused + sum.failed == 1);
}

TEST_CASE(
  "no turn of a generated session overtakes an answer, and a seed makes the same "
  "again") {
  workload::session_law law;
  law.rate = 6;
  law.turns_mean = 5;
  law.think_mean = 2s;
  auto made = [&] {
    workload::session_generator all{law, 11};
    workload::cut_source some{all, {.first = 200}};
    return replay_of(some).outcomes;
  };
  auto first = made();
  auto again = made();
  REQUIRE(first.size() == 200);
  std::size_t waited = 0;
  nanoseconds latest{0};
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].how == ending::served);
    CHECK(first[i].arrived == again[i].arrived);
    CHECK(first[i].ended == again[i].ended);
    CHECK(first[i].arrived >= latest); // in the order in which they were sent
    latest = first[i].arrived;
    waited += first[i].arrived.count() % 1'000'000 != 0; // timestamps are whole ms
  }
  CHECK(waited > 50);
}

} // namespace
} // namespace perigee::app
