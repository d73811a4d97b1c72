#include "apps/perigee/compare/cluster_search.hpp"

#include "apps/perigee/compare/cluster_shape.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace perigee::app {
namespace {

/// Whose clusters are good from so many nodes of each kind on, and so many in all.
struct demand {
  std::uint32_t prefill, decode, nodes;

  bool is_met(cluster_size by) const {
    return by.prefill >= prefill && by.decode >= decode && by.nodes() >= nodes;
  }
};

struct found {
  std::vector<cluster_size> sizes;
  std::set<cluster_size> tried;
};

found search(const demand& what, std::uint32_t each_max) {
  found came;
  cluster_search search{each_max, [&](std::span<const cluster_size> some) {
                          std::vector<bool> good;
                          for (auto one : some) {
                            CHECK(came.tried.insert(one).second); // none twice
                            good.push_back(what.is_met(one));
                          }
                          return result<std::vector<bool>, std::string>{good};
                        }};
  came.sizes = search.run().value();
  return came;
}

TEST_CASE("a search finds the clusters of the fewest nodes that are good enough") {
  for (std::uint32_t prefill = 1; prefill <= 9; ++prefill)
    for (std::uint32_t decode = 1; decode <= 9; ++decode)
      for (std::uint32_t more = 0; more <= 3; ++more) {
        demand what{prefill, decode, prefill + decode + more};
        INFO(prefill << " " << decode << " " << more);
        auto came = search(what, 16);
        CHECK(came.sizes.size() == more + 1); // each split of what is more
        for (auto one : came.sizes) {
          CHECK(one.nodes() == what.nodes);
          CHECK(what.is_met(one));
        }
      }
}

TEST_CASE("a search takes few runs, and no cluster that is too large") {
  auto came = search({30, 20, 50}, 40);
  REQUIRE(came.sizes == std::vector{cluster_size{30, 20}});
  CHECK(came.tried.size() < 25);
  for (auto one : came.tried)
    CHECK((one.prefill <= 40 && one.decode <= 40));
}

TEST_CASE("what no cluster meets is found nowhere") {
  CHECK(search({30, 1, 31}, 16).sizes.empty());
}

TEST_CASE("a run that fails ends the search, and says why") {
  cluster_search search{16, [](auto) {
                          return result<std::vector<bool>, std::string>{
                            failure(std::string{"no room"})};
                        }};
  auto came = search.run();
  REQUIRE_FALSE(came);
  CHECK(came.error() == "no room");
}

cluster::topology two_kinds() {
  cluster::topology all;
  all.hardware["box"] = {};
  all.hardware["crate"] = {};
  all.nodes.resize(4);
  for (std::size_t i = 0; i < 4; ++i) {
    all.nodes[i].name = "n" + std::to_string(i);
    if (i < 3)
      all.nodes[i].prefill_groups.resize(1);
    else
      all.nodes[i].decode_instances.resize(2);
  }
  all.cluster.control = "n2";
  return all;
}

TEST_CASE("a shape makes clusters of so many nodes of each kind") {
  auto shape = cluster_shape::of(two_kinds(), "crate");
  REQUIRE(shape);
  auto made = shape->make({1, 2});
  REQUIRE(made.nodes.size() == 3);
  CHECK(made.nodes[0].name == "p0");
  CHECK(made.nodes[0].prefill_groups.at(0).hardware == "crate");
  CHECK(made.nodes[2].name == "d1");
  CHECK(made.nodes[2].decode_instances.at(1).hardware == "crate");
  CHECK(made.cluster.control == "p0");
  CHECK(made.hardware.size() == 1);
}

TEST_CASE("a cluster of coupled instances is counted by one number") {
  cluster::topology all;
  all.nodes.resize(2);
  for (auto& one : all.nodes)
    one.coupled_instances.resize(1);
  all.nodes[1].name = "n1";
  auto made = with_nodes(all, "3");
  REQUIRE(made);
  REQUIRE(made->nodes.size() == 3);
  CHECK(made->nodes[2].name == "v2");
  CHECK(made->nodes[2].coupled_instances.size() == 1);
  CHECK(made->cluster.control == "v0");
  CHECK_FALSE(with_nodes(all, "2+1"));
  for (auto wrong : {"", "0", "3+", "+3", "3+0", "3 ", "-1", "99999999999"})
    CHECK_FALSE(with_nodes(all, wrong));
  CHECK_FALSE(with_nodes(two_kinds(), "4"));
  all.links.resize(1);
  CHECK(with_nodes(all, "3").error().find("links") != std::string::npos);
  all.links.clear();
  all.events.resize(1);
  CHECK(with_nodes(all, "3").error().find("events") != std::string::npos);
}

TEST_CASE("nodes that cannot be counted, and hardware that is not there, are refused") {
  auto why = [](const cluster::topology& all, const std::string& hardware = "") {
    return cluster_shape::of(all, hardware).error();
  };
  CHECK(why(two_kinds(), "bix") == "there is no [hardware.bix]; there are: box, crate");
  auto unlike = two_kinds();
  unlike.nodes[1].prefill_groups[0].stages = 2;
  CHECK(why(unlike) == "n1 is not like n0: only nodes that are alike can be counted");
  auto both = two_kinds();
  both.nodes[0].decode_instances.resize(1);
  CHECK(why(both) == "n0 must either prefill or decode, to be counted");
}

} // namespace
} // namespace perigee::app
