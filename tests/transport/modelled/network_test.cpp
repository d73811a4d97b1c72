#include "transport/modelled/network.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using rates = std::vector<double>;

rates capacities_of(const network& all, network::host from, network::host to) {
  rates found;
  for (auto link : all.between(from, to).links)
    found.push_back(all.capacities().at(link));
  return found;
}

TEST_CASE("a way leads over the sender's port, the core and the receiver's") {
  network all{
    {.ports = {{10, 1us}, {20, 3us}}, .core_bytes_per_s = 15, .latency = 5us}};
  CHECK(capacities_of(all, 0, 1) == rates{10, 15, 20});
  CHECK(capacities_of(all, 1, 0) == rates{20, 15, 10});
  CHECK(all.between(0, 1).latency == 8us);
}

TEST_CASE("a host sends and receives over links of its own") {
  network all{{.ports = {{10, {}}, {10, {}}}}};
  auto there = all.between(0, 1).links, back = all.between(1, 0).links;
  for (auto link : there)
    CHECK(std::ranges::count(back, link) == 0);
}

TEST_CASE("a cable holds up its own direction alone") {
  network all{{.ports = {{10, {}}, {10, {}}}, .cables = {{{0, 1}, {2, 7us}}}}};
  CHECK(capacities_of(all, 0, 1) == rates{10, 10, 2});
  CHECK(capacities_of(all, 1, 0) == rates{10, 10});
  CHECK(all.between(0, 1).latency == 7us);
  CHECK(all.between(1, 0).latency == 0us);
}

TEST_CASE("what has no limit is no link") {
  network all{{.ports = {{}, {10, {}}}}};
  CHECK(capacities_of(all, 0, 1) == rates{10});
}

TEST_CASE("a plan has an effect if anything in it takes time") {
  CHECK_FALSE(network_plan{.ports = {{}, {}}}.has_effect());
  CHECK(network_plan{.ports = {{}, {1, {}}}}.has_effect());
  CHECK(network_plan{.ports = {{}, {0, 1ns}}}.has_effect());
  CHECK(network_plan{.ports = {{}}, .core_bytes_per_s = 1}.has_effect());
  CHECK(network_plan{.ports = {{}}, .cables = {{{0, 0}, {1, {}}}}}.has_effect());
}

TEST_CASE("a fault takes from a host's port, either way, or from one cable") {
  network_plan plan{.ports = {{10, {}}, {20, {}}},
                    .cables = {{{0, 1}, {2, {}}}},
                    .faults = {{.from = 1, .share = 0.5},
                               {.from = 0, .to = 1, .begins = 3s, .ends = 4s}}};
  network all{plan};
  auto faults = all.faults();
  REQUIRE(faults.size() == 2);
  REQUIRE(faults[0].links.size() == 2);
  for (auto link : faults[0].links)
    CHECK(all.capacities()[link] == 20);
  CHECK(faults[0].share == 0.5);
  REQUIRE(faults[1].links.size() == 1);
  CHECK(all.capacities()[faults[1].links[0]] == 2);
  CHECK(faults[1].begins == 3s);
  CHECK(faults[1].ends == 4s);
}

} // namespace
} // namespace perigee::transport
