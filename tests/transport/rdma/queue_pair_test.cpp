#include "transport/rdma/queue_pair.hpp"

#include "transport/rdma/memory_region.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

namespace perigee::transport::rdma {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t bytes_total = 64 << 10;

/// One device with a queue pair and registered memory.
struct end {
  explicit end(const char* name)
    : on(device::open(name, 128).value()), memory(bytes_total),
      pair(queue_pair::make(*on, {.depth = 32, .retries = 2, .timeout = 12}).value()),
      region(
        memory_region::make(*on, {memory.data(), memory.size()}, 1 << 30).value()) {}

  /// Of the next completion.
  ibv_wc_status next() {
    for (auto deadline = std::chrono::steady_clock::now() + 20s;
         std::chrono::steady_clock::now() < deadline; std::this_thread::yield()) {
      ibv_wc one{};
      if (!on->poll({&one, 1}).empty())
        return one.status;
    }
    FAIL("no completion came");
    return IBV_WC_GENERAL_ERR;
  }

  std::unique_ptr<device> on;
  std::vector<std::byte> memory;
  queue_pair pair;
  memory_region region;
};

/// Two ends that are connected, and a window to all of the right one's memory.
struct two_ends {
  two_ends() {
    connect();
    bind();
  }

  void connect() {
    REQUIRE(left.pair.connect(right.on->address(), {right.pair.number(), 7}, 5));
    REQUIRE(right.pair.connect(left.on->address(), {left.pair.number(), 5}, 7));
  }

  void bind() {
    window.reset(ibv_alloc_mw(right.on->domain(), IBV_MW_TYPE_2));
    REQUIRE(window);
    REQUIRE(
      right.pair.post_bind(window.get(), right.region.piece(0), base(), bytes_total, 1)
      == 0);
    REQUIRE(right.next() == IBV_WC_SUCCESS);
  }

  std::uint64_t base() const {
    return reinterpret_cast<std::uintptr_t>(right.memory.data());
  }

  one_sided all(bool is_read) {
    return {is_read, left.memory.data(), bytes_total, left.region.piece(0)->lkey,
            base(),  window->rkey};
  }

  end left{"rxe0"}, right{"rxe1"};
  owned<ibv_mw> window;
};

TEST_CASE("bytes are written and read through a window") {
  two_ends both;
  both.left.memory.assign(bytes_total, std::byte{3});
  REQUIRE(both.left.pair.post(both.all(false), 1) == 0);
  CHECK(both.left.next() == IBV_WC_SUCCESS);
  CHECK(both.right.memory == both.left.memory);
  both.left.memory.assign(bytes_total, std::byte{});
  REQUIRE(both.left.pair.post(both.all(true), 1) == 0);
  CHECK(both.left.next() == IBV_WC_SUCCESS);
  CHECK(both.right.memory == both.left.memory);
}

TEST_CASE("memory without a window can't be reached, nor with one that has ended") {
  two_ends both;
  auto attempt = both.all(false);
  SECTION("by the key of its registration") {
    attempt.key_there = both.right.region.piece(0)->rkey;
  }
  SECTION("by a stale key") {
    both.window.reset();
  }
  both.left.memory.assign(bytes_total, std::byte{3});
  REQUIRE(both.left.pair.post(attempt, 1) == 0);
  CHECK(both.left.next() == IBV_WC_REM_ACCESS_ERR);
  CHECK(both.right.memory == std::vector<std::byte>(bytes_total));
}

TEST_CASE("a queue pair that has failed works again once both ends were reset") {
  two_ends both;
  both.right.pair.error();
  REQUIRE(both.left.pair.post_probe(1) == 0);
  CHECK(both.left.next() != IBV_WC_SUCCESS);
  REQUIRE(both.left.pair.reset());
  REQUIRE(both.right.pair.reset());
  both.connect();
  REQUIRE(both.left.pair.post_probe(2) == 0);
  CHECK(both.left.next() == IBV_WC_SUCCESS);
  both.bind();
  REQUIRE(both.left.pair.post(both.all(false), 1) == 0);
  CHECK(both.left.next() == IBV_WC_SUCCESS);
}

TEST_CASE("a region longer than a device allows is registered in pieces") {
  auto on = device::open("rxe0", 16).value();
  std::vector<std::byte> memory(10'000);
  auto made = memory_region::make(*on, {memory.data(), memory.size()}, 4096).value();
  REQUIRE(made.pieces() == 3);
  CHECK(made.extent(1).base == memory.data() + 4096);
  CHECK(made.extent(2).bytes == 10'000 - 2 * 4096);
  CHECK(made.piece(0)->lkey != made.piece(1)->lkey);
}

TEST_CASE("a device that isn't there is an error") {
  CHECK(device::open("nowhere0", 16).error().code == ENODEV);
}

} // namespace
} // namespace perigee::transport::rdma
