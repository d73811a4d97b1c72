#include "actors/cluster/topology_reader.hpp"
#include "apps/perigee/replay/replay.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

// The cluster files that the project ships.

namespace perigee::app {
namespace {

namespace fs = std::filesystem;

const fs::path folder{PERIGEE_SOURCE_DIR "/topologies"};

std::map<std::string, cluster::topology> all_ready() {
  std::map<std::string, cluster::topology> all;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    if (entry.path().extension() != ".toml")
      continue;
    std::ifstream file{entry.path()};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    auto got = cluster::read_topology(text, {entry.path().string(), {}});
    if (!got)
      FAIL(to_string(got.error()));
    all.emplace(fs::relative(entry.path(), folder).string(), std::move(*got));
  }
  return all;
}

auto engine_costs(const cluster::hardware_settings& of) {
  return std::tuple{of.prefill_fixed_ms, of.prefill_token_us,   of.prefill_pair_ns,
                    of.decode_fixed_ms,  of.decode_sequence_us, of.decode_kv_token_ns};
}

TEST_CASE("every ready topology can be read, and what is modelled be replayed") {
  auto all = all_ready();
  CHECK(all.size() >= 10);
  for (const auto& [name, one] : all) {
    INFO(name);
    if (!one.hardware.empty())
      CHECK_FALSE(find_obstacle(one));
  }
}

TEST_CASE("the hardware of the papers costs the same in every file that has it") {
  auto all = all_ready();
  const auto& known = all.at("papers/mooncake-8p8d.toml").hardware.at("a800x8");
  for (const auto& [name, one] : all) {
    INFO(name);
    for (const auto& [called, hardware] : one.hardware) {
      CHECK(called == "a800x8");
      CHECK(engine_costs(hardware) == engine_costs(known));
    }
  }
}

} // namespace
} // namespace perigee::app
