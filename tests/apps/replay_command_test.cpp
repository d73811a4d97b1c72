#include "tests/apps/modelled_cluster.hpp"
#include "tests/apps/program.hpp"

namespace perigee::app {
namespace {

const std::string make_trace
  = "workload generate --like conversation --requests 60 --seed 7 --out t.jsonl";

TEST_CASE("a trace is served in virtual time, and the same again by the same seed") {
  scratch here;
  here.write("two.toml", modelled_cluster);
  REQUIRE(run(make_trace, here.path()).code == 0);
  auto table = run("replay two.toml t.jsonl", here.path());
  INFO(table.said);
  REQUIRE(table.code == 0);
  CHECK(holds(table.said, "requests 60: served 60 (100.0 %)"));
  auto first = run("replay two.toml t.jsonl --json -", here.path());
  CHECK(holds(first.said, "\"served\":60"));
  CHECK(run("replay two.toml t.jsonl --json -", here.path()).said == first.said);
  auto fewer = run("replay two.toml t.jsonl --first 5 --json -", here.path());
  CHECK(holds(fewer.said, "\"requests\":5,"));
}

TEST_CASE("what becomes of a request does not depend on how often somebody looks") {
  scratch here;
  here.write("two.toml", modelled_cluster);
  REQUIRE(run(make_trace, here.path()).code == 0);
  auto seldom = run("replay two.toml t.jsonl --csv - --read-every 1000", here.path());
  INFO(seldom.said);
  REQUIRE(seldom.code == 0);
  CHECK(holds(seldom.said, "arrival_s,input_tokens,"));
  for (const char* every : {"0.01", "0.37", "3"})
    CHECK(run(std::string{"replay two.toml t.jsonl --csv - --read-every "} + every,
              here.path())
            .said
          == seldom.said);
}

TEST_CASE("a replay's speed is measured, of a trace that is given") {
  scratch here;
  here.write("two.toml", modelled_cluster);
  REQUIRE(run(make_trace, here.path()).code == 0);
  auto table = run("bench replay two.toml t.jsonl --runs 2", here.path());
  INFO(table.said);
  REQUIRE(table.code == 0);
  CHECK(holds(table.said, "virtual/wall"));
  CHECK(holds(table.said, "the trace                       60"));
  CHECK(run("bench replay two.toml none.jsonl --runs 1", here.path()).code == 1);
}

TEST_CASE("several seeds give one table, of what each figure comes to") {
  scratch here;
  here.write("two.toml", modelled_cluster);
  REQUIRE(run(make_trace, here.path()).code == 0);
  auto table = run("replay two.toml t.jsonl --seeds 3 --set policy.placement=random",
                   here.path());
  INFO(table.said);
  REQUIRE(table.code == 0);
  CHECK(holds(table.said, "3 runs, seeds 1 to 3"));
  auto json = run("replay two.toml t.jsonl --seeds 3 --set policy.placement=random "
                  "--json -",
                  here.path());
  CHECK(holds(json.said, "\"runs\":3,"));
  CHECK(holds(json.said, "\"deviation\":{"));
  CHECK(run("replay two.toml t.jsonl --seeds 3 --csv -", here.path()).code == 2);
}

TEST_CASE("a report that cannot be written is a failure, and a wrong limit a mistake") {
  scratch here;
  here.write("two.toml", modelled_cluster);
  REQUIRE(run(make_trace, here.path()).code == 0);
  auto nowhere
    = run("replay two.toml t.jsonl --first 2 --json no/where.json", here.path());
  CHECK(nowhere.code == 1);
  CHECK(holds(nowhere.said, "no/where.json cannot be written"));
  auto wrong = run("replay two.toml t.jsonl --goodput ttft:fast", here.path());
  CHECK(wrong.code == 2);
  CHECK(holds(wrong.said, "'ttft:fast' is no limit"));
}

TEST_CASE("a report names the events of its run, which nobody serves with") {
  scratch here;
  REQUIRE(run(make_trace, here.path()).code == 0);
  here.write("two.toml", modelled_cluster + R"([[event]]
at_s = 5
what = "slow"
node = "p1"
for_s = 2.5
[[event]]
at_s = 3
what = "kill"
node = "p0"
actor = "conductor"
)");
  auto done = run("replay two.toml t.jsonl", here.path());
  CHECK(done.code == 0);
  CHECK(holds(done.said,
              "3.0 s  kill conductor.0 of p0\n     5.0 s  slow p1, until 7.5 s\n"));
  auto json = run("replay two.toml t.jsonl --json -", here.path());
  CHECK(holds(json.said, R"("what":"kill conductor.0 of p0")"));
  CHECK(holds(json.said, R"("until_s":7.500)"));
  CHECK(holds(json.said, R"("placed_again":)"));
  auto served = run("serve two.toml", here.path());
  CHECK(served.code == 2);
  CHECK(holds(served.said, "two.toml has events: only perigee replay heeds them"));
}

TEST_CASE("what cannot be replayed is refused before it begins") {
  scratch here;
  REQUIRE(run(make_trace, here.path()).code == 0);
  here.write("real.toml", R"([model]
path = "m.gguf"
block_tokens = 512
[[node]]
prefill_group = [ {} ]
decode_instance = [ {} ]
)");
  auto real = run("replay real.toml t.jsonl", here.path());
  CHECK(real.code == 2);
  CHECK(holds(real.said, "whose engine is \"cpu\": expected \"modelled\""));
  here.write("two.toml", modelled_cluster);
  auto other = run("replay two.toml t.jsonl --set model.block_tokens=16", here.path());
  CHECK(other.code == 2);
  CHECK(holds(other.said, "model.block_tokens is 16: expected 512"));
  auto missing = run("replay two.toml nowhere.jsonl", here.path());
  CHECK(missing.code == 1);
  CHECK(holds(missing.said, "nowhere.jsonl can't be opened"));
  here.write("bad.jsonl", "{\"timestamp\": 0}\n");
  auto bad = run("replay two.toml bad.jsonl", here.path());
  CHECK(bad.code == 1);
  CHECK(holds(bad.said, "bad.jsonl:1: "));
}

} // namespace
} // namespace perigee::app
