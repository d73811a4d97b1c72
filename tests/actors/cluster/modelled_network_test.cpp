#include "actors/cluster/modelled_network.hpp"

#include <catch2/catch.hpp>

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;

constexpr double GiB = 1 << 30;

topology pair_of_nodes() {
  topology all;
  all.hardware["fast"].transfer_gib_per_s = 8;
  all.hardware["fast"].transfer_fixed_us = 3;
  all.hardware["slow"].transfer_gib_per_s = 2;
  all.nodes.resize(3);
  all.nodes[0].name = "p";
  all.nodes[0].prefill_groups.push_back({.hardware = "fast"});
  all.nodes[1].name = "d";
  all.nodes[1].decode_instances.push_back({.hardware = "slow"});
  all.nodes[2].name = "s"; // a shard alone
  return all;
}

TEST_CASE("a node's port is as its hardware says") {
  auto plan = network_of(pair_of_nodes());
  REQUIRE(plan.ports.size() == 3);
  CHECK(plan.ports[0].bytes_per_s == 8 * GiB);
  CHECK(plan.ports[0].latency == 3us);
  CHECK(plan.ports[1].bytes_per_s == 2 * GiB);
  CHECK(plan.ports[2].bytes_per_s == 0);
}

TEST_CASE("the fabric overrules the hardware, and a link both") {
  auto all = pair_of_nodes();
  all.fabric = {.nic_gib_per_s = 5, .core_gib_per_s = 7, .latency_us = 11};
  all.links.push_back({"d", "", "", "", 1, 2});
  all.links.push_back({"", "d", "p", "", 0.5, 0});
  auto plan = network_of(all);
  CHECK(plan.core_bytes_per_s == 7 * GiB);
  CHECK(plan.latency == 11us);
  CHECK(plan.ports[0].bytes_per_s == 5 * GiB);
  CHECK(plan.ports[1].bytes_per_s == 1 * GiB);
  CHECK(plan.ports[1].latency == 2us);
  CHECK(plan.ports[2].bytes_per_s == 5 * GiB);
  REQUIRE(plan.cables.size() == 1);
  CHECK(plan.cables.at({1, 0}).bytes_per_s == 0.5 * GiB);
}

} // namespace
} // namespace perigee::cluster
