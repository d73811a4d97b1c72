#include "apps/perigee/calibration.hpp"

#include "engine/modelled/modelled_engine.hpp"

#include <catch2/catch.hpp>

namespace perigee::app {
namespace {

engine::modelled_options some_engine() {
  engine::modelled_options how;
  how.arena_blocks = 256;
  how.checked = true; // takes time that grows with what it reads
  return how;
}

TEST_CASE("calibration runs sound batches, and says what it measures") {
  auto runs = engine::make_modelled_engine(some_engine());
  std::vector<std::string> lines;
  auto costs = calibrate(*runs, *runs, effort::quick,
                         [&](const std::string& line) { lines.push_back(line); });
  REQUIRE(costs);
  CHECK(lines.size() == 8);
  CHECK(lines.front().starts_with("prefill sequences=1 tokens=8 cached=0 ms="));
  CHECK(costs->prefill_token_us >= 0);
  CHECK(costs->decode_fixed_ms >= 0);
  CHECK(costs->prefill_fixed_ms + costs->prefill_token_us + costs->prefill_pair_ns > 0);
  CHECK(costs->transfer_gib_per_s > 0);
}

TEST_CASE("an engine too small for the batches is no ground for a cost model") {
  auto how = some_engine();
  how.arena_blocks = 1;
  auto runs = engine::make_modelled_engine(how);
  auto costs = calibrate(*runs, *runs, effort::quick);
  REQUIRE_FALSE(costs);
  CHECK(costs.error().find("arena too small") != std::string::npos);
}

} // namespace
} // namespace perigee::app
