#include "actors/cluster/overrides.hpp"

#include <catch2/catch.hpp>

namespace perigee::cluster {
namespace {

TEST_CASE("the environment's names are those of the settings") {
  auto got = overrides_in({"PERIGEE_POLICY_PREFILL_CHUNK=64", "HOME=/root",
                           "PERIGEE_TEST_SEEDS=7", "PERIGEE_LOG_LEVEL=debug"},
                          {"PERIGEE_LOG_LEVEL"});
  REQUIRE(got);
  REQUIRE(got->size() == 1);
  CHECK(got->front().key == "policy.prefill_chunk");
  CHECK(got->front().text == "64");
  auto wrong = overrides_in({"PERIGEE_SLO_TFFT_MS=3"}, {});
  REQUIRE_FALSE(wrong);
  CHECK(to_string(wrong.error())
        == "environment: PERIGEE_SLO_TFFT_MS is not a setting; did you mean "
           "\"PERIGEE_SLO_TTFT_MS\"?\n");
}

TEST_CASE("an assignment on the command line has a key and a value") {
  auto got = to_override("model.name=a=b");
  REQUIRE(got);
  CHECK(got->key == "model.name");
  CHECK(got->text == "a=b");
  CHECK_FALSE(to_override("model.name"));
  CHECK_FALSE(to_override("=x"));
}

} // namespace
} // namespace perigee::cluster
