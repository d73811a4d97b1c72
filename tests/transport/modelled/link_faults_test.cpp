#include "transport/modelled/link_faults.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;

constexpr auto never = std::chrono::nanoseconds::max();

TEST_CASE("a link has its share while a fault lasts, and all before and after") {
  link_faults all{{100, 200}, {{10s, 20s, {1}, 0.25}}};
  CHECK(all.take_changes(0s).empty());
  CHECK(all.next_after(0s) == 10s);
  auto begun = all.take_changes(10s);
  REQUIRE(begun.size() == 1);
  CHECK(begun[0].link == 1);
  CHECK(begun[0].bytes_per_s == 50);
  CHECK(all.take_changes(15s).empty());
  CHECK(all.next_after(15s) == 20s);
  auto ended = all.take_changes(20s);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].bytes_per_s == 200);
  CHECK_FALSE(all.next_after(20s));
}

TEST_CASE("two faults of one link take from it together") {
  link_faults all{{100}, {{1s, 5s, {0}, 0.5}, {2s, 3s, {0, 0}, 0.1}}};
  CHECK(all.take_changes(1s).at(0).bytes_per_s == 50);
  CHECK(all.take_changes(2s).at(0).bytes_per_s == 5);
  CHECK(all.take_changes(3s).at(0).bytes_per_s == 50);
  CHECK(all.take_changes(5s).at(0).bytes_per_s == 100);
}

TEST_CASE("a link without a limit can be cut, and is without one again") {
  constexpr auto unlimited = std::numeric_limits<double>::infinity();
  link_faults all{{unlimited}, {{1s, 2s, {0}, 0}, {3s, never, {0}, 0}}};
  CHECK(all.take_changes(1s).at(0).bytes_per_s == 0);
  CHECK(all.take_changes(2s).at(0).bytes_per_s == unlimited);
  CHECK(all.take_changes(3s).at(0).bytes_per_s == 0);
  CHECK_FALSE(all.next_after(3s));
}

} // namespace
} // namespace perigee::transport
