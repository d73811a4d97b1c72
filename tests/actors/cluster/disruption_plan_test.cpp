#include "actors/cluster/disruption_plan.hpp"

#include <catch2/catch.hpp>

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;

disruption lasting(std::chrono::nanoseconds begins, std::chrono::nanoseconds ends) {
  disruption one;
  one.begins = begins;
  one.ends = ends;
  return one;
}

/// "+0" begins, "-0" ends.
std::string taken(disruption_plan& all, std::chrono::nanoseconds now) {
  std::string text;
  for (auto [of, begins] : all.take(now))
    text += (begins ? '+' : '-') + std::to_string(of);
  return text;
}

TEST_CASE("each begins and ends once, at its time") {
  disruption_plan all{{lasting(5s, 9s), lasting(2s, 7s)}};
  CHECK(all.next() == 2s);
  CHECK(taken(all, 1s).empty());
  CHECK(taken(all, 5s) == "+1+0");
  CHECK(taken(all, 5s).empty());
  CHECK(all.next() == 7s);
  CHECK(taken(all, 1h) == "-1-0");
  CHECK_FALSE(all.next());
}

TEST_CASE("what never ends has an end nowhere") {
  disruption_plan all{{lasting(5s, std::chrono::nanoseconds::max())}};
  CHECK(taken(all, 5s) == "+0");
  CHECK_FALSE(all.next());
}

TEST_CASE("at one moment, one ends before the next of its kind begins") {
  disruption_plan all{{lasting(4s, 8s), lasting(2s, 4s)}};
  CHECK(taken(all, 4s) == "+1-1+0");
}

TEST_CASE("one that lasts no time begins before it ends") {
  disruption_plan all{{lasting(4s, 4s)}};
  CHECK(taken(all, 4s) == "+0-0");
}

} // namespace
} // namespace perigee::cluster
