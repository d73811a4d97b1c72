#include "actors/prefill_group/prefill_queue.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>

namespace perigee::prefill {
namespace {

using chunk = std::vector<share>;

TEST_CASE("chunks are full, and every token is given out once") {
  std::mt19937 dice{7};
  prefill_queue queue{64, 4};
  std::map<std::uint64_t, std::uint32_t> wanted, given;
  for (std::uint64_t request = 0; request < 200 || !queue.empty();) {
    for (int i = 0; i < 2 && request < 200; ++i, ++request) {
      wanted[request] = 1 + dice() % 300;
      queue.add(request, wanted[request]);
    }
    std::uint32_t sum = 0;
    for (const auto& one : queue.next_chunk()) {
      CHECK(one.tokens > 0);
      given[one.request] += one.tokens;
      sum += one.tokens;
    }
    CHECK((sum == 64 || queue.empty()));
  }
  CHECK(given == wanted);
  CHECK(queue.next_chunk().empty());
}

TEST_CASE("the shortest begins first") {
  prefill_queue queue{16, 4};
  queue.add(1, 30);
  queue.add(2, 5);
  queue.add(3, 9);
  CHECK(queue.next_chunk() == chunk{{2, 5}, {3, 9}, {1, 2}});
  CHECK(queue.next_chunk() == chunk{{1, 16}});
}

TEST_CASE("a short one does not wait for a long one that has begun") {
  prefill_queue queue{16, 4};
  queue.add(1, 1000);
  queue.next_chunk();
  queue.add(2, 5);
  CHECK(queue.next_chunk() == chunk{{1, 11}, {2, 5}});
}

TEST_CASE("whose turn it is gets half of the chunk, whoever comes") {
  prefill_queue queue{16, 4};
  queue.add(1, 100);
  queue.next_chunk();
  for (std::uint64_t request = 2; request < 12; ++request)
    queue.add(request, 5);
  auto next = queue.next_chunk();
  CHECK(next.front() == share{1, 8});
  CHECK(next.size() == 3);
}

TEST_CASE("those who have begun take turns") {
  prefill_queue queue{16, 4};
  queue.add(1, 40);
  queue.next_chunk(); // 24 of it are left
  queue.add(2, 23);
  CHECK(queue.next_chunk() == chunk{{1, 8}, {2, 8}});
  CHECK(queue.next_chunk() == chunk{{1, 16}});
  CHECK(queue.next_chunk() == chunk{{2, 15}});
}

TEST_CASE("a long one begins though shorter ones keep coming") {
  prefill_queue queue{16, 4};
  queue.add(0, 64);
  int chunks = 0;
  for (std::uint64_t request = 1;; ++request, ++chunks) {
    queue.add(request, 16);
    bool begun = false;
    for (const auto& one : queue.next_chunk())
      begun = begun || one.request == 0;
    if (begun)
      break;
    REQUIRE(chunks < 64);
  }
  CHECK(chunks > 0); // for a while, shorter ones were better
}

TEST_CASE("who may not fill a chunk leaves the rest to others") {
  prefill_queue queue{16, 4};
  queue.add(1, 20, true);
  queue.add(2, 30);
  CHECK(queue.next_chunk() == chunk{{1, 4}, {2, 12}});
}

TEST_CASE("what is scored fills a chunk to its limit, however many want it") {
  prefill_queue queue{16, 4};
  for (std::uint64_t request = 1; request <= 3; ++request)
    queue.add(request, 3, true);
  queue.add(4, 30);
  std::map<std::uint64_t, std::uint32_t> got;
  for (int i = 0; i < 3; ++i) {
    std::uint32_t scored = 0;
    for (const auto& one : queue.next_chunk()) {
      got[one.request] += one.tokens;
      scored += one.request < 4 ? one.tokens : 0;
    }
    CHECK(scored <= 4);
  }
  CHECK(got == std::map<std::uint64_t, std::uint32_t>{{1, 3}, {2, 3}, {3, 3}, {4, 30}});
}

TEST_CASE("who is removed gets nothing any more") {
  prefill_queue queue{16, 4};
  queue.add(1, 20);
  queue.add(2, 30);
  queue.next_chunk();
  CHECK(queue.remove(1));
  CHECK_FALSE(queue.remove(1));
  CHECK(queue.next_chunk() == chunk{{2, 16}});
}

} // namespace
} // namespace perigee::prefill
