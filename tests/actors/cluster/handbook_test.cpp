#include "actors/cluster/handbook.hpp"

#include "actors/cluster/topology_reader.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

namespace perigee::cluster {
namespace {

topology read_back(const topology& all) {
  auto text = to_toml(all);
  INFO(text);
  auto got = read_topology(text, {"/t.toml", {}});
  if (!got)
    FAIL(to_string(got.error()));
  return *got;
}

TEST_CASE("a topology that is written down reads as itself") {
  auto all = laptop("/models/m.gguf");
  CHECK(read_back(all) == all);

  all.cluster.listen = "[::1]:0";
  all.model.name = "a \"name\"\nand\tmore \\";
  all.slo.tbt = milliseconds{7};
  all.policy.kvcache_balancing_threshold = 1.1;
  all.http.api_keys = {"x", "y\"z"};
  all.cost_model.emplace().prefill_pair_ns = 0.1 + 0.2;
  all.hardware["a b.c"].decode_fixed_ms = 26.3;
  all.nodes[0].prefill_groups.push_back({1, "cpu", "", 3, byte_size{1048577}});
  all.nodes.push_back(all.nodes[0]);
  all.nodes[1].name = "n1";
  all.nodes[1].address = "10.0.0.1:7400";
  all.nodes[1].rdma_devices = {"mlx5_1", "mlx5_0"};
  all.nodes[1].decode_instances.clear();
  all.nodes[1].cache_shard->dram = 3_GiB;
  all.hardware["big"];
  all.model_shape.emplace().layers = 80;
  for (auto& one : all.nodes) {
    for (auto& group : one.prefill_groups)
      group = {1, "modelled", "big", group.threads, group.arena};
    for (auto& instance : one.decode_instances)
      instance = {"modelled", "big", 0, instance.arena, 64};
  }
  CHECK(read_back(all) == all);
  auto in_full = read_topology(resolved(all), {"/t.toml", {}});
  REQUIRE(in_full);
  CHECK(*in_full == all);
}

TEST_CASE("so does one whose instances are coupled") {
  auto all = laptop("/models/m.gguf");
  all.policy.placement = "round_robin";
  all.nodes[0].cache_shard.reset();
  all.nodes[0].prefill_groups.clear();
  all.nodes[0].decode_instances.clear();
  all.nodes[0].coupled_instances.push_back(
    {"cpu", "", 2, 1_GiB, "prefill_first", 4096, 7, false});
  CHECK(read_back(all) == all);
  auto in_full = read_topology(resolved(all), {"/t.toml", {}});
  REQUIRE(in_full);
  CHECK(*in_full == all);
}

TEST_CASE("in the file to start from, defaults are comments") {
  auto text = to_toml(laptop("/m.gguf"));
  CHECK(text.find("\n# ttft_ms = 30000\n") != std::string::npos);
  CHECK(text.find("\npath = \"/m.gguf\"\n") != std::string::npos);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    CHECK(line.size() <= 88);
}

TEST_CASE("docs/topology.md is what the settings say") {
  std::ifstream file{PERIGEE_SOURCE_DIR "/docs/topology.md"};
  std::stringstream there;
  there << file.rdbuf();
  INFO("make it anew: perigee init --handbook > docs/topology.md");
  CHECK(there.str() == topology_page());
}

} // namespace
} // namespace perigee::cluster
