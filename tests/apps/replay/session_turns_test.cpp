#include "apps/perigee/replay/session_turns.hpp"

#include <catch2/catch.hpp>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;
using fate = session_turns::fate;
using nanoseconds = std::chrono::nanoseconds;

/// `tokens` tell one turn from another.
workload::request turn(std::uint64_t session, std::uint32_t tokens,
                       std::optional<nanoseconds> think = std::nullopt) {
  return {0ns, tokens, 1, {}, session, think};
}

fate take(session_turns& in, workload::request one, nanoseconds now) {
  return in.take(one, now);
}

TEST_CASE("a turn is due its think after the one before was answered") {
  session_turns turns;
  CHECK(take(turns, turn(7, 1), 0s) == fate::now);
  CHECK(take(turns, turn(7, 2, 5s), 1s) == fate::later);
  CHECK(take(turns, turn(7, 3, 1s), 2s) == fate::later);
  CHECK(turns.waits());
  CHECK_FALSE(turns.next_due());
  CHECK(turns.ended(7, true, 10s).empty());
  CHECK(turns.next_due() == 15s);
  CHECK(turns.pop().input_tokens == 2);
  CHECK_FALSE(turns.next_due());
  CHECK(turns.ended(7, true, 20s).empty());
  CHECK(turns.next_due() == 21s);
  CHECK(turns.pop().input_tokens == 3);
  CHECK_FALSE(turns.waits());
}

TEST_CASE("a turn whose think is over when it arrives is sent at once") {
  session_turns turns;
  CHECK(take(turns, turn(7, 1), 0s) == fate::now);
  turns.ended(7, true, 10s);
  CHECK(take(turns, turn(7, 2, 5s), 15s) == fate::now);
  turns.ended(7, true, 16s);
  CHECK(take(turns, turn(7, 3, 5s), 20s) == fate::later);
  CHECK(turns.next_due() == 21s);
}

TEST_CASE("a session ends with a turn that was not served") {
  session_turns turns;
  take(turns, turn(7, 1), 0s);
  take(turns, turn(7, 2, 1s), 0s);
  take(turns, turn(7, 3, 1s), 0s);
  auto lost = turns.ended(7, false, 2s);
  REQUIRE(lost.size() == 2);
  CHECK(lost[0].input_tokens == 2);
  CHECK(lost[1].input_tokens == 3);
  CHECK_FALSE(turns.waits());
  CHECK(take(turns, turn(7, 4, 1s), 9s) == fate::never);
  CHECK(take(turns, turn(8, 5), 9s) == fate::now); // others go on
}

TEST_CASE("what doesn't think, has no session, or comes first, waits for nothing") {
  session_turns turns;
  workload::request alone{0ns, 1, 1, {}, {}, {}};
  CHECK(turns.take(alone, 0s) == fate::now);
  CHECK(take(turns, turn(7, 1, 5s), 0s) == fate::now); // the trace was cut before it
  CHECK(take(turns, turn(7, 2, 5s), 0s) == fate::later);
  CHECK(take(turns, turn(7, 3), 1s) == fate::now);
  turns.ended(7, true, 2s);
  CHECK_FALSE(turns.next_due()); // the other one is still open
  turns.ended(7, true, 4s);
  CHECK(turns.next_due() == 9s);
}

TEST_CASE("a turn that was due is lost with its session") {
  session_turns turns;
  take(turns, turn(7, 1), 0s);
  take(turns, turn(7, 2, 5s), 0s);
  turns.ended(7, true, 1s);
  CHECK(turns.next_due() == 6s);
  CHECK(take(turns, turn(7, 3), 2s) == fate::now); // in between, by the trace's wish
  CHECK(turns.ended(7, false, 3s).size() == 1);
  CHECK_FALSE(turns.next_due());
  CHECK_FALSE(turns.waits());
}

TEST_CASE("of sessions that are due the earliest goes first, then that of less id") {
  session_turns turns;
  for (std::uint64_t id : {9, 8, 7}) {
    take(turns, turn(id, 1), 0s);
    take(turns, turn(id, static_cast<std::uint32_t>(id), id == 7 ? 3s : 1s), 0s);
    turns.ended(id, true, 1s);
  }
  CHECK(turns.pop().input_tokens == 8);
  CHECK(turns.pop().input_tokens == 9);
  CHECK(turns.pop().input_tokens == 7);
}

TEST_CASE("turns that nobody will answer are given up") {
  session_turns turns;
  take(turns, turn(7, 1), 0s);
  take(turns, turn(7, 2, 5s), 0s);
  CHECK(turns.give_up().size() == 1);
  CHECK_FALSE(turns.waits());
}

} // namespace
} // namespace perigee::app
