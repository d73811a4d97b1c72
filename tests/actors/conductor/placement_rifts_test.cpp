#include "tests/actors/conductor/placement_cluster.hpp"

#include <catch2/catch.hpp>

namespace perigee::conductor {
namespace {

using namespace test;

SCENARIO("who does not reach each other does not serve together") {
  auto name = GENERATE(from_range(placement_names()));
  GIVEN("a group that reaches one of two instances alone") {
    cluster some;
    some.apart.set(g0.node, d0.node, true);
    THEN("it never gets a request for the other") {
      auto policy = make_placement(name, {});
      for (int i = 0; i < 50; ++i) {
        auto made = policy->choose(some.one, some.here()).value();
        CHECK_FALSE(some.apart.is_between(made.prefill.node, made.decode.node));
      }
    }
  }
  GIVEN("groups that reach nobody, but for one") {
    cluster some;
    for (auto group : {g0, g1})
      for (auto instance : {d0, d1})
        some.apart.set(instance.node, group.node, true);
    THEN("that one has all") {
      auto policy = make_placement(name, {});
      for (int i = 0; i < 20; ++i)
        CHECK(policy->choose(some.one, some.here()).value().prefill == g2);
    }
  }
  GIVEN("nobody who reaches the gateway") {
    cluster some;
    some.one.gateway = node_index{77};
    for (auto instance : {d0, d1})
      some.apart.set(some.one.gateway, instance.node, true);
    THEN("there is no plan") {
      CHECK_FALSE(some.place(name));
      some.apart.set(some.one.gateway, d1.node, false);
      CHECK(some.place(name).value().decode == d1);
    }
  }
}

SCENARIO("a prefix that can't be fetched is computed") {
  GIVEN("a holder that one group does not reach") {
    cluster some;
    some.all.prefills = {{g0, {}}};
    some.runs = {{n1, 80, 0}, {n2, 50, 0}};
    some.apart.set(n1, g0.node, true);
    THEN("the next best one is asked") {
      auto made = some.place("kvcache_centric").value();
      CHECK(made.source == n2);
      CHECK(made.reuse_blocks == 50);
    }
  }
}

} // namespace
} // namespace perigee::conductor
