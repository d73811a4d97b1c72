#include "actors/block_line.hpp"

#include <catch2/catch.hpp>

namespace perigee {
namespace {

TEST_CASE("who came first has the first turn") {
  block_line line{8};
  CHECK(line.join(1, 4));
  CHECK(line.join(2, 2));
  CHECK(line.next(4) == 1u);
  CHECK(line.next(4) == 2u);
  CHECK(line.next(4) == std::nullopt);
}

TEST_CASE("a small one fills what a large one can't use, but not for ever") {
  block_line line{100};
  CHECK(line.join(1, 10));
  for (std::uint64_t who = 2; who < 50; ++who)
    CHECK(line.join(who, 1));
  int overtakers = 0;
  while (line.next(9))
    ++overtakers;
  CHECK(overtakers == 16);
  CHECK(line.next(10) == 1u);
  CHECK(line.next(9) == 18u);
}

TEST_CASE("a line has an end, and one may leave it") {
  block_line line{2};
  CHECK(line.join(1, 1));
  CHECK(line.join(2, 1));
  CHECK_FALSE(line.join(3, 1));
  CHECK(line.leave(1));
  CHECK_FALSE(line.leave(1));
  CHECK(line.join(3, 1));
  CHECK(line.next(1) == 2u);
}

} // namespace
} // namespace perigee
