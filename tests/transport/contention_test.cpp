#include "transport/contention.hpp"

#include <catch2/catch.hpp>

namespace perigee::transport {
namespace {

TEST_CASE("those ahead of a move are the more urgent ones") {
  contention wire;
  wire.begin(priority::urgent);
  wire.begin(priority::normal);
  wire.begin(priority::normal);
  wire.begin(priority::idle);
  CHECK(wire.ahead_of(priority::urgent) == 0);
  CHECK(wire.ahead_of(priority::normal) == 1);
  CHECK(wire.ahead_of(priority::idle) == 3);
  wire.end(priority::normal);
  CHECK(wire.ahead_of(priority::idle) == 2);
}

TEST_CASE("it eases once for the last of a kind") {
  contention wire;
  wire.begin(priority::urgent);
  wire.begin(priority::urgent);
  wire.end(priority::urgent);
  CHECK_FALSE(wire.take_eased());
  wire.end(priority::urgent);
  CHECK(wire.take_eased());
  CHECK_FALSE(wire.take_eased());
}

} // namespace
} // namespace perigee::transport
