#include "actors/span_of.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace perigee {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a span is what a message says, and never too long to be added") {
  CHECK(span_of(0) == 0ns);
  CHECK(span_of(1'500) == 1'500ns);
  CHECK(span_of(std::numeric_limits<std::uint64_t>::max()) == 24h);
  CHECK(span_of(std::uint64_t{1} << 63) == 24h); // would be negative
}

} // namespace
} // namespace perigee
