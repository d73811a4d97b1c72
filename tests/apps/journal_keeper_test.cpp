#include "apps/perigee/journal_keeper.hpp"

#include "actors/cluster/topology.hpp"

#include <catch2/catch.hpp>
#include <spdlog/sinks/null_sink.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace perigee::app {
namespace {

std::string all_bytes_under(const std::filesystem::path& folder) {
  std::string all;
  for (const auto& one : std::filesystem::recursive_directory_iterator{folder})
    if (one.is_regular_file()) {
      std::ifstream file{one.path(), std::ios::binary};
      all.append(std::istreambuf_iterator<char>{file}, {});
    }
  return all;
}

TEST_CASE("who ends for no error is lost of its own accord") {
  auto folder = std::filesystem::temp_directory_path()
                / ("perigee_keeper_" + std::to_string(getpid()));
  auto log = std::make_shared<spdlog::logger>(
    "quiet", std::make_shared<spdlog::sinks::null_sink_mt>());
  {
    auto keeper = journal_keeper::open({.folder = folder.string()}, {"n0", 1, true},
                                       cluster::laptop("m.gguf"), log);
    REQUIRE(keeper);
    (*keeper)->record().lost(rt::actor_tag{1}, rt::actor_tag{2},
                             std::chrono::nanoseconds{3}, rt::error{});
  }
  CHECK(all_bytes_under(folder).find("of its own accord") != std::string::npos);
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace perigee::app
