#include "transport/gate_board.hpp"

#include <catch2/catch.hpp>

#include <thread>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a gate opens layer by layer, and never closes") {
  gate one;
  CHECK_FALSE(one.is_open(0));
  one.open_to(2);
  CHECK(one.is_open(1));
  CHECK_FALSE(one.is_open(2));
  one.open_to(1);
  CHECK(one.is_open(1));
}

TEST_CASE("a gate that has failed keeps what is open and opens no more") {
  gate one;
  one.open_to(1);
  one.fail();
  one.open_to(3);
  CHECK(one.wait(0, 0ns));
  CHECK(one.wait(1, 1min).error() == gate_fault::starved); // at once
}

TEST_CASE("who waits for a layer too long is told so") {
  gate one;
  CHECK(one.wait(0, 1ms).error() == gate_fault::timed_out);
}

TEST_CASE("who waits sees what was written before the gate was opened") {
  gate one;
  int layers[8]{};
  std::thread computes{[&] {
    for (std::uint32_t layer = 0; layer < 8; ++layer) {
      layers[layer] = 7;
      one.open_to(layer + 1);
    }
  }};
  for (std::uint32_t layer = 0; layer < 8; ++layer) {
    REQUIRE(one.wait(layer, 1min));
    CHECK(layers[layer] == 7);
  }
  computes.join();
}

TEST_CASE("a gate may say when its layers opened") {
  gate one;
  CHECK_FALSE(one.opened_at(0));
  one.date({3ns, 5ns});
  CHECK(one.opened_at(1) == 5ns);
  CHECK_FALSE(one.opened_at(2));
  CHECK_FALSE(one.is_open(0)); // it does not open by that
}

TEST_CASE("watchers are told of every change, in the order in which they came") {
  gate one;
  std::string told;
  one.watch([&] { told += 'a'; });
  auto watch = one.watch([&] { told += 'b'; });
  one.open_to(1);
  one.open_to(1); // no change
  one.unwatch(watch);
  one.fail();
  one.fail();
  CHECK(told == "aba");
}

TEST_CASE("a gate is found by its number while its owner has it") {
  auto board = gate_board::make();
  gate_ptr found;
  {
    auto mine = board->open(gate_id{7});
    REQUIRE(mine);
    mine->open_to(1);
    found = board->find(gate_id{7});
    REQUIRE(found);
    CHECK(found->is_open(0));
    CHECK(board->find(gate_id{8}) == nullptr);
  }
  CHECK(found->read().failed); // who waits for it hears so
  CHECK(board->find(gate_id{7}) == nullptr);
  CHECK(board->size() == 0);
}

TEST_CASE("an owned gate is owned by one: moving it moves the duty") {
  auto board = gate_board::make();
  auto first = board->open(gate_id{1});
  auto second = std::move(first);
  auto found = board->find(gate_id{1});
  REQUIRE(found);
  CHECK_FALSE(found->read().failed);
  second = board->open(gate_id{2});
  CHECK(found->read().failed);
  CHECK(board->find(gate_id{2}) != nullptr);
}

TEST_CASE("a full board has no place for another gate") {
  auto board = gate_board::make(1);
  auto first = board->open(gate_id{1});
  REQUIRE(first);
  CHECK_FALSE(board->open(gate_id{2}));
  first = {};
  CHECK(board->open(gate_id{2}));
}

} // namespace
} // namespace perigee::transport
