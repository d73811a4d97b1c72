#include "actors/report_pace.hpp"

#include <catch2/catch.hpp>

namespace perigee {
namespace {

using namespace std::chrono_literals;

TEST_CASE("the first change is reported at once, the next ones together") {
  report_pace pace{100ms};
  CHECK(pace.changed(5ms));
  CHECK_FALSE(pace.take_tick());
  CHECK_FALSE(pace.changed(20ms));
  CHECK(pace.take_tick() == std::chrono::nanoseconds{105ms});
  CHECK_FALSE(pace.changed(30ms));
  CHECK_FALSE(pace.take_tick()); // it is set
  pace.ticked(105ms);
  CHECK_FALSE(pace.changed(110ms));
  CHECK(pace.take_tick() == std::chrono::nanoseconds{205ms});
}

TEST_CASE("after a quiet time a change is reported at once") {
  report_pace pace{100ms};
  CHECK(pace.changed(5ms));
  CHECK(pace.changed(105ms));
  CHECK(pace.changed(1h));
}

} // namespace
} // namespace perigee
