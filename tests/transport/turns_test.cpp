#include "transport/turns.hpp"

#include <catch2/catch.hpp>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;

constexpr turns::moment start{1h};

/// Two peers that share a wire.
struct two_peers {
  contention all;
  turns ours{all}, theirs{all};
  contender our_idle{priority::idle, false};
  contender their_urgent{priority::urgent, false};
};

TEST_CASE("what is less urgent than another peer's move has one piece under way") {
  two_peers wire;
  wire.ours.count(wire.our_idle, true);
  wire.theirs.count(wire.their_urgent, true);
  CHECK(wire.ours.may_go(wire.our_idle, start));
  wire.ours.went(wire.our_idle, 1, start);
  CHECK_FALSE(wire.ours.may_go(wire.our_idle, start));
  CHECK_FALSE(wire.ours.wakes_at()); // no clock helps
  CHECK(wire.theirs.may_go(wire.their_urgent, start));
  SECTION("until it comes back") {
    wire.ours.came_back(priority::idle);
    CHECK(wire.ours.may_go(wire.our_idle, start));
  }
  SECTION("or the other peer's wants the wire no longer") {
    wire.theirs.count(wire.their_urgent, false);
    CHECK(wire.all.take_eased());
    CHECK(wire.ours.may_go(wire.our_idle, start));
  }
  SECTION("for each urgency") {
    contender normal{priority::normal, true};
    CHECK(wire.ours.may_go(normal, start));
  }
}

TEST_CASE("within a peer, and beside what is as urgent elsewhere, nobody has to wait") {
  two_peers wire;
  contender our_urgent{priority::urgent, false};
  contender their_idle{priority::idle, true};
  for (auto* one : {&wire.our_idle, &our_urgent})
    wire.ours.count(*one, true);
  wire.theirs.count(their_idle, true);
  wire.ours.went(wire.our_idle, 1, start);
  CHECK(wire.ours.may_go(wire.our_idle, start));
  CHECK(wire.ours.may_go(our_urgent, start));
  CHECK(wire.theirs.may_go(their_idle, start));
}

TEST_CASE("who says twice that it wants the wire is counted once") {
  two_peers wire;
  wire.theirs.count(wire.their_urgent, true);
  wire.theirs.count(wire.their_urgent, true);
  CHECK(wire.all.ahead_of(priority::idle) == 1);
  wire.theirs.count(wire.their_urgent, false);
  wire.theirs.count(wire.their_urgent, false);
  CHECK(wire.all.ahead_of(priority::idle) == 0);
}

TEST_CASE("what is too fast waits, and one is woken for the first that need not") {
  two_peers wire;
  contender write{priority::normal, true}, read{priority::normal, false};
  wire.ours.set_rates({.written = 1000, .read = 100});
  for (const auto* one : {&write, &read}) {
    CHECK(wire.ours.may_go(*one, start));
    wire.ours.went(*one, 500, start);
    wire.ours.came_back(one->urgency);
    CHECK_FALSE(wire.ours.may_go(*one, start));
  }
  auto first = start + 500ms - pace::slack; // the write's
  CHECK(wire.ours.wakes_at() == first);
  CHECK_FALSE(wire.ours.take_wake(first - 1ns));
  CHECK(wire.ours.take_wake(first));
  CHECK_FALSE(wire.ours.take_wake(first));
  CHECK(wire.ours.may_go(write, first));
  CHECK_FALSE(wire.ours.may_go(read, first));
  CHECK(wire.ours.wakes_at() == start + 5s - pace::slack);
}

TEST_CASE("rates count for the other peer's moves no more than for the other way") {
  two_peers wire;
  contender write{priority::normal, true}, read{priority::normal, false};
  wire.ours.set_rates({.written = 1000});
  wire.ours.went(write, 500, start);
  CHECK(wire.ours.may_go(read, start));
  CHECK(wire.theirs.may_go(write, start));
  CHECK(wire.ours.piece_bytes(write, 1 << 20) == 4096);
  CHECK(wire.ours.piece_bytes(read, 1 << 20) == 1 << 20);
  wire.ours.set_rates({});
  CHECK(wire.ours.may_go(write, start));
}

} // namespace
} // namespace perigee::transport
