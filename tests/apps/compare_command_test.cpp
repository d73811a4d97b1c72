#include "tests/apps/program.hpp"

namespace perigee::app {
namespace {

const std::string cluster = PERIGEE_SOURCE_DIR "/tests/apps/replay/golden/cluster.toml";

void make_trace(const scratch& here) {
  auto made = run("workload generate --like conversation --requests 60 --seed 7 "
                  "--out t.jsonl",
                  here.path());
  REQUIRE(made.code == 0);
}

TEST_CASE("clusters are compared side by side, however many runs go at a time") {
  scratch here;
  make_trace(here);
  auto line = "compare " + cluster + " " + cluster
              + ",policy.placement=random t.jsonl --set slo.ttft_ms=20000 --jobs ";
  auto one = run(line + "1", here.path());
  INFO(one.said);
  REQUIRE(one.code == 0);
  CHECK(holds(one.said, "cluster.toml  cluster.toml,policy.placement=random\n"));
  CHECK(holds(one.said, "ttft_ms.p90"));
  CHECK(run(line + "4", here.path()).said == one.said);
}

TEST_CASE("a sweep has a row for each value, in their order") {
  scratch here;
  make_trace(here);
  auto rows = run("sweep " + cluster + " t.jsonl speed=1,4,2", here.path());
  INFO(rows.said);
  REQUIRE(rows.code == 0);
  auto fourth = rows.said.find("\n4 ");
  CHECK(rows.said.find("\n1 ") < fourth);
  CHECK(fourth < rows.said.find("\n2 "));
  auto json = run("sweep " + cluster
                    + " t.jsonl policy.placement=random,round_robin "
                      "--json -",
                  here.path());
  CHECK(holds(json.said, "\"run\":\"round_robin\""));
}

TEST_CASE("nodes are counted anew, each like its kind in the file") {
  scratch here;
  make_trace(here);
  auto rows = run("sweep " + cluster + " t.jsonl nodes=1+1,3+2", here.path());
  INFO(rows.said);
  REQUIRE(rows.code == 0);
  CHECK(rows.said.find("\n1+1 ") < rows.said.find("\n3+2 "));
  auto report = [&](const std::string& nodes) {
    auto came = run("replay " + cluster + " t.jsonl --json - " + nodes, here.path());
    REQUIRE(came.code == 0);
    return came.said;
  };
  CHECK(report("--nodes 4+2") == report("")); // as many as the file has
  CHECK(report("--nodes 3+2") != report(""));
}

TEST_CASE("a plan shows the smallest cluster that is good enough, and its runs") {
  scratch here;
  make_trace(here);
  auto line = "plan " + cluster
              + " t.jsonl --set slo.ttft_ms=60000 "
                "--goodput ttft:8000,tpot:60 --hardware a800x8 --attain ";
  auto plan = run(line + "90", here.path());
  INFO(plan.said);
  REQUIRE(plan.code == 0);
  CHECK(holds(plan.said, "\n1P+1D "));
  CHECK(holds(plan.said, " nodes are enough: "));
  auto never = run(line + "100 --nodes-max 1", here.path());
  CHECK(never.code == 1);
  CHECK(holds(never.said, "no cluster of up to 1 nodes of each kind reaches 100 %"));
}

TEST_CASE("what cannot be compared, swept or planned is refused before it begins") {
  scratch here;
  make_trace(here);
  auto refused = [&](const std::string& line, const std::string& why) {
    auto came = run(line, here.path());
    INFO(came.said);
    CHECK(came.code == 2);
    CHECK(holds(came.said, why));
  };
  refused("compare " + cluster + ",policy.placment=random t.jsonl",
          "policy.placment is not a setting");
  refused("sweep " + cluster + " t.jsonl speed=fast", "speed is fast");
  refused("sweep " + cluster + " t.jsonl policy.eviction", "is no sweep");
  refused("sweep " + cluster + " t.jsonl policy.eviction=lru,", "is no sweep");
  refused("sweep " + cluster + " t.jsonl nodes=0+1", "nodes is 0+1: expected");
  refused("sweep " + cluster + " t.jsonl nodes=7", "expected so many that prefill");
  refused("compare " + cluster + ",nodes=1+1+1 t.jsonl", "nodes is 1+1+1: expected");
  refused("plan " + cluster + " t.jsonl", "--goodput says so");
  refused("plan " + cluster + " t.jsonl --goodput ttft:1 --hardware b200",
          "there is no [hardware.b200]; there are: a800x8");
  auto missing = run("compare " + cluster + " nowhere.jsonl", here.path());
  CHECK(missing.code == 1);
  CHECK(holds(missing.said, "nowhere.jsonl can't be opened"));
}

} // namespace
} // namespace perigee::app
