#include "actors/cluster/line_plan.hpp"

#include <catch2/catch.hpp>

namespace perigee::cluster {
namespace {

using transfer::line_terms;

topology three_nodes() {
  topology all;
  for (const auto* name : {"a", "b", "c"})
    all.nodes.emplace_back().name = name;
  return all;
}

TEST_CASE("of each other node there is an entry, whatever links say") {
  auto plan = line_plan_of(three_nodes(), node_index{1});
  REQUIRE(plan.size() == 2);
  CHECK(plan.at(node_index{0}) == line_terms{"a", "", {}});
  CHECK(plan.at(node_index{2}) == line_terms{"c", "", {}});
}

TEST_CASE("a link's rate is of one way, its transport of both") {
  auto all = three_nodes();
  all.links = {{"", "a", "b", "tcp", 1, 0}};
  constexpr auto gib = std::uint64_t{1} << 30;
  CHECK(line_plan_of(all, node_index{0}).at(node_index{1})
        == line_terms{"b", "tcp", {gib, 0}});
  CHECK(line_plan_of(all, node_index{1}).at(node_index{0})
        == line_terms{"a", "tcp", {0, gib}});
  CHECK(line_plan_of(all, node_index{2}).at(node_index{0}).transport.empty());
}

TEST_CASE("a node's link is of all lines to it and from it") {
  auto all = three_nodes();
  all.links = {{"b", "", "", "tcp", 0, 0}};
  CHECK(line_plan_of(all, node_index{0}).at(node_index{1}).transport == "tcp");
  CHECK(line_plan_of(all, node_index{0}).at(node_index{2}).transport.empty());
  CHECK(line_plan_of(all, node_index{1}).at(node_index{2}).transport == "tcp");
}

TEST_CASE("the slowest rate is still one") {
  auto all = three_nodes();
  all.links = {{"", "a", "b", "", 1e-12, 0}};
  CHECK(line_plan_of(all, node_index{0}).at(node_index{1}).most.written == 1);
}

} // namespace
} // namespace perigee::cluster
