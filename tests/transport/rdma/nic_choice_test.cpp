#include "transport/rdma/nic_choice.hpp"

#include "transport/rdma/machine_map.hpp"

#include <catch2/catch.hpp>

#include <map>

namespace perigee::transport::rdma {
namespace {

using groups = std::vector<std::vector<std::size_t>>;

/// The numbers of all NICs, those of equal distance together, the nearest first.
groups by_distance(const whereabouts& memory, const std::vector<whereabouts>& nics) {
  std::map<std::uint8_t, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < nics.size(); ++i)
    found[distance(memory, nics[i])].push_back(i);
  groups all;
  for (auto& [far, group] : found)
    all.push_back(std::move(group));
  return all;
}

/// A machine of topologies/, and all its NICs in order.
struct machine {
  machine(const std::string& name, std::size_t nics_total)
    : map(machine_map::from_xml(std::string{PERIGEE_SOURCE_DIR}
                                + "/tests/transport/rdma/topologies/" + name)
            .value()) {
    for (std::size_t i = 0; i < nics_total; ++i)
      nics.push_back(map.of_nic("mlx5_" + std::to_string(i)));
  }

  groups for_gpu(const std::string& bus_id) const {
    return by_distance(map.of_pci(bus_id), nics);
  }

  groups for_node(int package, int node) const {
    return by_distance({package, node, {}}, nics);
  }

  machine_map map;
  std::vector<whereabouts> nics;
};

TEST_CASE("a GPU uses the NICs behind its switch, then those of its package") {
  machine here{"eight_gpus.xml", 9};
  CHECK(here.for_gpu("0000:c0:00.0") == groups{{0, 1}, {2, 3}, {4, 5, 6, 7, 8}});
  CHECK(here.for_gpu("0000:c7:00.0") == groups{{6, 7}, {4, 5, 8}, {0, 1, 2, 3}});
}

TEST_CASE("a processor's memory uses the NICs of its NUMA node, then of its package") {
  machine large{"eight_gpus.xml", 9};
  CHECK(large.for_node(0, 0) == groups{{0, 1, 2, 3}, {4, 5, 6, 7, 8}});
  machine divided{"four_nodes.xml", 2};
  CHECK(divided.for_node(0, 0) == groups{{0}, {1}});
  CHECK(divided.for_node(1, 3) == groups{{1}, {0}});
  CHECK(distance({1, 3, {}}, divided.nics[1]) < distance({1, 3, {}}, divided.nics[0]));
}

TEST_CASE("of switches in a tree the lowest common one counts") {
  machine here{"switch_tree.xml", 3};
  CHECK(here.for_gpu("0000:c0:00.0") == groups{{0}, {1, 2}});
  CHECK(here.for_gpu("0000:c1:00.0") == groups{{1}, {0, 2}});
}

TEST_CASE("memory and NICs of which nothing is known are near to all") {
  machine here{"eight_gpus.xml", 9};
  CHECK(by_distance({}, here.nics) == groups{{0, 1, 2, 3, 4, 5, 6, 7, 8}});
  std::vector<whereabouts> unknown(2);
  CHECK(by_distance({0, 0, {}}, unknown).size() == 1);
  CHECK(here.map.of_nic("mlx5_77").numa_node == whereabouts::unknown);
  CHECK(here.map.of_pci("nonsense").bridges.empty());
}

TEST_CASE("this machine has a map, and one that can't be read is none") {
  auto here = machine_map::here();
  std::vector<std::byte> memory(1 << 16, std::byte{1});
  CHECK(here.of_memory(memory.data(), memory.size()).bridges.empty());
  CHECK_FALSE(machine_map::from_xml("/nowhere.xml"));
}

} // namespace
} // namespace perigee::transport::rdma
