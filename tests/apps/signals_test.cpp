#include "apps/perigee/signals.hpp"

#include <catch2/catch.hpp>

#include <csignal>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;
using meaning = signal_sense::meaning;

SCENARIO("a signal that comes twice within 200 ms is one; a second one ends at once") {
  GIVEN("a process that was told to end") {
    signal_sense sense;
    CHECK(sense.take(SIGTERM, 5s) == meaning::end);
    THEN("the same again means nothing, however often, until 200 ms are over") {
      CHECK(sense.take(SIGTERM, 5s) == meaning::same_again);
      CHECK(sense.take(SIGTERM, 5s + 100ms) == meaning::same_again);
      CHECK(sense.take(SIGTERM, 5s + 199ms) == meaning::same_again);
      CHECK(sense.take(SIGTERM, 5s + 200ms) == meaning::end_at_once);
    }
    THEN("the same much later ends it at once") {
      CHECK(sense.take(SIGTERM, 1h) == meaning::end_at_once);
    }
    THEN("another ends it at once, whenever it comes") {
      CHECK(sense.take(SIGINT, 5s) == meaning::end_at_once);
    }
  }
}

} // namespace
} // namespace perigee::app
