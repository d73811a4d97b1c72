#include "apps/perigee/compare/batch.hpp"

#include "apps/perigee/compare/comparison.hpp"
#include "apps/perigee/compare/variant.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

namespace perigee::app {
namespace {

TEST_CASE("runs come back in their order, however many go at a time") {
  std::vector<run_work> all;
  for (std::int64_t i = 0; i < 9; ++i)
    all.emplace_back([i] {
      figures some;
      for (int k = 0; k < 2'000; ++k) // more than a pipe holds
        some.push_back({"a.figure" + std::to_string(k), {i * k, 3}});
      return run_result{some};
    });
  for (std::size_t at_once : {1, 4, 20}) {
    std::size_t told = 0;
    auto came = run_batch(all, at_once, [&](std::size_t done) { told = done; });
    CHECK(told == 9);
    REQUIRE(came.size() == 9);
    for (std::size_t i = 0; i < 9; ++i)
      CHECK(came[i].value().at(7)
            == figure{"a.figure7", {static_cast<std::int64_t>(7 * i), 3}});
  }
}

TEST_CASE("a run that fails, or dies, says so, and the others go on") {
  const std::vector<run_work> all{
    [] { return run_result{failure(std::string{"line 3: no"})}; },
    []() -> run_result { std::_Exit(3); },
    [] {
      return run_result{figures{{"x", {5, 0}}}};
    },
  };
  auto came = run_batch(all, 2, [](std::size_t) {});
  CHECK(came[0].error() == "line 3: no");
  CHECK(came[1].error() == "the run ended without a word");
  CHECK(find(came[2].value(), "x") == decimal{5, 0});
}

TEST_CASE("a variant is a file, and settings behind commas") {
  auto plain = to_topology_source("a.toml");
  CHECK(plain.path == "a.toml");
  CHECK(plain.settings.empty());
  auto changed = to_topology_source("b/a.toml,slo.ttft_ms=5,policy.eviction=lfu");
  CHECK(changed.path == "b/a.toml");
  CHECK(changed.settings
        == std::vector<std::string>{"slo.ttft_ms=5", "policy.eviction=lfu"});
}

TEST_CASE("runs stand side by side, and what one lacks is a dash") {
  std::vector<compared_run> runs{
    {"a.toml", {{"served", {7, 0}}, {"goodput.per_s", {1'234'5, 4}}}},
    {"another.toml", {{"served", {9, 0}}}}};
  auto table = to_columns(runs);
  CHECK(table.find("served") != std::string::npos);
  CHECK(table.find("1.235") != std::string::npos);
  CHECK(table.find('-') != std::string::npos);
  CHECK(to_rows(runs, "file").starts_with("file"));
  CHECK(to_json(runs).find("\"run\":\"another.toml\"") != std::string::npos);
}

} // namespace
} // namespace perigee::app
