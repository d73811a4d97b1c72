#include "actors/cluster/respawn_plan.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;

const respawn_limits limits{100ms, 1s, 30s, 6};

TEST_CASE("who dies the first time is started again at once") {
  respawn_plan plan{limits};
  plan.started(5s);
  CHECK(plan.ended(5s) == 0ns);
}

TEST_CASE("who dies young again waits longer each time, and in the end for ever") {
  respawn_plan plan{limits};
  std::vector<std::optional<std::chrono::nanoseconds>> waits;
  for (int i = 0; i < 8; ++i) {
    plan.started(1s);
    waits.push_back(plan.ended(2s));
  }
  CHECK(waits[1] == 100ms);
  CHECK(waits[2] == 200ms);
  CHECK(waits[4] == 800ms);
  CHECK(waits[5] == 1s); // not 1.6 s
  CHECK_FALSE(waits[6]);
  CHECK_FALSE(waits[7]);
}

TEST_CASE("who has lived long may die as often again") {
  respawn_plan plan{limits};
  for (int life = 0; life < 20; ++life) {
    auto begin = life * 100s;
    plan.started(begin);
    CHECK(plan.ended(begin + 30s) == 0ns);
  }
}

TEST_CASE("without an attempt nobody is started again") {
  respawn_plan plan{{100ms, 1s, 30s, 0}};
  plan.started(0s);
  CHECK_FALSE(plan.ended(31s));
}

} // namespace
} // namespace perigee::cluster
