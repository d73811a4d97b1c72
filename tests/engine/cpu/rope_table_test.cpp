#include "engine/cpu/rope_table.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace perigee::engine::cpu {
namespace {

void check_turn(const rope_table& table, std::uint32_t position, std::size_t pair,
                double angle) {
  std::vector<float> cosine(table.pairs());
  std::vector<float> sine(table.pairs());
  table.fill(position, cosine.data(), sine.data());
  CHECK(static_cast<double>(cosine[pair]) == Approx(std::cos(angle)).margin(1e-6));
  CHECK(static_cast<double>(sine[pair]) == Approx(std::sin(angle)).margin(1e-6));
}

TEST_CASE("each pair turns slower than the one before, by the base") {
  rope_table table{{10'000, 1}, 64, {}};
  REQUIRE(table.pairs() == 32);
  for (std::uint32_t position : {0u, 1u, 8191u, 1'000'000u})
    for (std::size_t pair : {0u, 1u, 31u})
      check_turn(table, position, pair,
                 position * std::pow(10'000.0, -2.0 * static_cast<double>(pair) / 64));
}

TEST_CASE("positions are divided where the file stretches the context") {
  check_turn({{10'000, 8}, 64, {}}, 800, 0, 100);
}

TEST_CASE("each pair is divided by its factor") {
  check_turn({{10'000, 1}, 4, std::vector<float>{1, 4}}, 100, 0, 100);
  check_turn({{10'000, 1}, 4, std::vector<float>{1, 4}}, 100, 1, 0.25);
}

} // namespace
} // namespace perigee::engine::cpu
