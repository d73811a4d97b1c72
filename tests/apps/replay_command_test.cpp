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
  CHECK(holds(table.said, "requests 60: served 60 (100.0%)"));
  auto first = run("replay two.toml t.jsonl --json", here.path());
  CHECK(holds(first.said, "\"served\":60"));
  CHECK(run("replay two.toml t.jsonl --json", here.path()).said == first.said);
  auto fewer = run("replay two.toml t.jsonl --first 5 --json", here.path());
  CHECK(holds(fewer.said, "\"requests\":5,"));
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
