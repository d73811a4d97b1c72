#include "tests/transport/peer_scene.hpp"

#include <thread>

namespace perigee::transport::test {
namespace {

using namespace std::chrono_literals;

void ends_early(const make_pair_bed& make, way direction) {
  SECTION("a move that takes longer than its limit has timed out") {
    scene here{make, direction};
    auto hasty = waiting(here.blocks({{0, 1}}));
    hasty.limit = 1ms;
    REQUIRE(here.submit(1, hasty));
    CHECK(here.heard.fault_of(move_id{1}) == fault::timed_out);
    hasty.wait_for->open_to(small.layers);
    CHECK_FALSE(here.arrived({0, 1}, 0)); // it has let go of the memory
  }
  SECTION("an abort is acknowledged by the outcome, and then no memory is touched") {
    scene here{make, direction};
    auto held = waiting(here.blocks({{0, 1}}));
    REQUIRE(here.submit(1, held));
    here.left().abort(move_id{1});
    CHECK(here.heard.fault_of(move_id{1}) == fault::aborted);
    CHECK(held.opens->read().failed);
    held.wait_for->open_to(small.layers);
    CHECK_FALSE(here.arrived({0, 1}, 0));
  }
  SECTION("after an abort in mid-move the memory can be used anew at both ends") {
    constexpr geometry large{.layer_bytes = std::uint64_t{4} << 20, .layers = 1};
    scene here{make, direction, large, 2};
    recorder there;
    for (std::uint64_t round = 0; round < 10; ++round) {
      auto one = here.blocks({{0, 0}});
      one.layers = {0, 1};
      REQUIRE(here.submit(round, one));
      std::this_thread::sleep_for(round * 100us);
      here.left().abort(move_id{round});
      auto came = here.heard.of(move_id{round});
      CHECK((came || came.error() == fault::aborted));
      here.to.fill(std::byte{0x5a});
      auto other = here.blocks({{1, 1}}); // behind whatever were still under way
      other.layers = {0, 1};
      REQUIRE(here.run(100 + round, other));
      std::swap(other.from, other.to);
      REQUIRE(here.right().submit(move_id{round}, other, there.pen()));
      REQUIRE(there.of(move_id{round}));
      CHECK(here.to.is_filled(std::byte{0x5a}));
      here.from.fill(std::byte{0xa5});
    }
  }
  SECTION("an abort of what has ended, or never was, changes nothing") {
    scene here{make, direction};
    REQUIRE(here.run(1, here.blocks({{0, 1}})));
    here.left().abort(move_id{1});
    here.left().abort(move_id{9});
    CHECK(here.run(2, here.blocks({{1, 2}})));
    CHECK_FALSE(here.heard.told(move_id{9}));
  }
  SECTION("a transport that is closed tells those who wait, and those under way") {
    scene here{make, direction};
    REQUIRE(here.submit(1, waiting(here.blocks({{0, 1}}))));
    REQUIRE(here.submit(2, waiting(here.blocks({{0, 2}}))));
    REQUIRE(here.submit(3, here.blocks({{0, 3}})));
    here.left().close();
    CHECK(here.heard.told(move_id{3}));
    for (std::uint64_t id = 1; id <= 2; ++id) {
      REQUIRE(here.heard.told(move_id{id})); // by the time it returns
      CHECK(here.heard.fault_of(move_id{id}) == fault::closed);
    }
  }
  SECTION("memory outlives its registration until the last move is told") {
    scene here{make, direction};
    auto fleeting
      = std::make_unique<peer_memory>(*here.bed, here.bed->left(), segment_id{9}, 3);
    auto life = fleeting->watch_life();
    auto held = waiting(here.blocks({{0, 1}}));
    here.here_of(held) = segment_id{9};
    REQUIRE(here.submit(1, held));
    fleeting.reset();
    REQUIRE(here.bed->left().segments.remove(segment_id{9}));
    CHECK(here.refusal(2, held) == fault::gone);
    REQUIRE(life.lock());
    held.wait_for->open_to(small.layers);
    CHECK(here.heard.of(move_id{1}).value() == small.block_bytes());
    here.left().close();
    CHECK(life.expired());
  }
}

void outlives_peers(const make_pair_bed& make, way direction) {
  SECTION("moves of a peer that ends are told so, and so is its owner") {
    scene here{make, direction};
    auto held = waiting(here.blocks({{0, 1}}));
    REQUIRE(here.submit(1, held));
    here.bed->right().subject.reset();
    CHECK(here.heard.fault_of(move_id{1}) == fault::peer_lost);
    CHECK(held.opens->read().failed);
    CHECK(here.bed->left().peers.next_of(here.right_name, peer_state::lost).why
          == loss::disconnected);
    CHECK(here.refusal(2, here.blocks({{0, 1}})) == fault::peer_lost);
  }
  SECTION("a peer that ends in mid-move fails it, and none waits for ever") {
    constexpr geometry large{.layer_bytes = std::uint64_t{2} << 20, .layers = 1};
    scene here{make, direction, large, 8};
    auto one = here.blocks({{0, 0}, {1, 2}, {2, 4}, {3, 6}, {4, 1}});
    one.layers = {0, 1};
    REQUIRE(here.submit(1, one));
    here.bed->right().subject.reset();
    auto came = here.heard.of(move_id{1});
    CHECK((came || came.error() == fault::peer_lost));
    here.bed->left().peers.next_of(here.right_name, peer_state::lost);
  }
  SECTION("a peer that is forgotten loses its moves, its segments and its way in") {
    scene here{make, direction};
    REQUIRE(here.submit(1, waiting(here.blocks({{0, 1}}))));
    recorder there;
    auto held = waiting(here.blocks({{0, 1}}));
    std::swap(held.from, held.to);
    REQUIRE(here.right().submit(move_id{1}, held, there.pen()));
    here.left().forget(here.right_name);
    here.bed->left().peers.next_of(here.right_name, peer_state::forgotten);
    CHECK(here.heard.fault_of(move_id{1}) == fault::peer_lost);
    CHECK(here.refusal(2, here.blocks({{0, 1}})) == fault::gone);
    CHECK_FALSE(here.left().counted_of(here.right_name));
    held.wait_for->open_to(small.layers); // it may try
    CHECK(there.fault_of(move_id{1}) == fault::peer_lost);
    CHECK_FALSE(here.left_memory.layer(1, 0) == here.right_memory.layer(0, 0));
    CHECK(here.bed->right().peers.next_of(here.left_name, peer_state::lost).why
          == loss::disconnected);
  }
  SECTION("a peer may come back under another name, with another ticket") {
    scene here{make, direction};
    here.left().forget(here.right_name);
    here.bed->left().peers.next_of(here.right_name, peer_state::forgotten);
    here.right().forget(here.left_name);
    here.bed->right().peers.next_of(here.left_name, peer_state::forgotten);
    constexpr peer_id again{202}, once_more{201};
    REQUIRE(here.right().expect(once_more, here.key(2), 1min));
    REQUIRE(here.left().connect(again, here.right().here(), here.key(2)));
    here.bed->left().peers.next_of(again, peer_state::up);
    here.bed->right().peers.next_of(once_more, peer_state::up);
    REQUIRE(
      here.left().learn(again, here.right().describe(here.right_segment).value()));
    REQUIRE(
      here.right().learn(once_more, here.left().describe(here.left_segment).value()));
    CHECK(here.run(1, here.blocks({{0, 1}})));
    CHECK(here.arrived({0, 1}));
  }
}

void stands_a_crowd(const make_pair_bed& make, way direction) {
  SECTION("callers, openers and aborters in each other's way get one outcome each") {
    scene here{make, direction};
    std::atomic<std::uint64_t> told{0};
    for (std::uint64_t round = 0; round < 50; ++round) {
      auto held = std::make_shared<gate>();
      std::uint64_t taken = 0;
      for (std::uint64_t id = 0; id < pair_bed::outstanding_max; ++id) {
        auto one = here.blocks({{static_cast<std::uint32_t>(id), 7}});
        one.wait_for = id % 2 ? held : nullptr;
        one.urgency = static_cast<priority>(id % priorities);
        taken += here.left()
                   .submit(move_id{round * 100 + id}, one,
                           [&](move_id, const outcome&) { ++told; })
                   .has_value();
        if (id % 3 == 0)
          here.left().abort(move_id{round * 100 + id});
      }
      held->open_to(small.layers);
      while (told < taken)
        std::this_thread::yield();
      CHECK(told == taken);
      told = 0;
    }
  }
}

} // namespace

void survives_ends(const make_pair_bed& make, way direction) {
  ends_early(make, direction);
  outlives_peers(make, direction);
  stands_a_crowd(make, direction);
}

} // namespace perigee::transport::test
