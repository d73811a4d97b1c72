#include "engine/cpu/thread_pool.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace perigee::engine::cpu {
namespace {

TEST_CASE("every item is done once, whatever the numbers of threads and items") {
  for (std::size_t threads : {1, 2, 3, 8}) {
    thread_pool pool({threads});
    CHECK(pool.threads() == threads);
    for (std::size_t count : {0, 1, 2, 7, 64, 1000, 100000})
      for (std::size_t grain : {0, 1, 3, 1000}) {
        std::vector<int> done(count);
        std::atomic<std::size_t> wrong{0};
        pool.run(count, grain,
                 [&](std::size_t begin, std::size_t end, std::size_t thread) {
                   wrong += begin >= end || end > count || thread >= threads;
                   wrong += end - begin < grain && end != count;
                   for (; begin < end; ++begin)
                     ++done[begin];
                 });
        CHECK(wrong == 0);
        CHECK(done == std::vector<int>(count, 1));
      }
  }
}

TEST_CASE("what a call wrote is seen by the next") {
  thread_pool pool({4});
  std::vector<std::size_t> numbers(257), next(257);
  for (std::size_t round = 0; round < 3000; ++round) {
    pool.run(numbers.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (; begin < end; ++begin)
        next[begin] = numbers[(begin + 1) % numbers.size()] + 1;
    });
    numbers.swap(next);
  }
  CHECK(numbers == std::vector<std::size_t>(257, 3000));
}

TEST_CASE("one thread, or few items, run in the caller and in order") {
  auto caller = std::this_thread::get_id();
  for (std::size_t threads : {1, 3}) {
    thread_pool pool({threads});
    std::vector<std::size_t> begins;
    pool.run(10, threads == 1 ? 1 : 10,
             [&](std::size_t begin, std::size_t end, std::size_t thread) {
               CHECK(std::this_thread::get_id() == caller);
               CHECK(thread == 0);
               CHECK(end == 10);
               begins.push_back(begin);
             });
    CHECK(begins == std::vector<std::size_t>{0});
  }
}

// One helper is stuck in a chunk until all others are done: it holds up no more.
TEST_CASE("a thread that isn't run holds up its chunk, not its share") {
  thread_pool pool({2});
  constexpr std::size_t count = 1000;
  std::atomic<std::size_t> done{0};
  std::atomic<bool> stuck{false};
  pool.run(count, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    auto rest = count - (end - begin);
    if (thread == 1 && !stuck.exchange(true))
      while (done < rest)
        std::this_thread::yield();
    done += end - begin;
  });
  CHECK(done == count);
}

TEST_CASE("threads have numbers of their own") {
  thread_pool pool({4});
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> shared{0};
  for (int round = 0; round < 200; ++round)
    pool.run(64, 1, [&](std::size_t, std::size_t, std::size_t thread) {
      shared += inside[thread].fetch_add(1) != 0;
      std::this_thread::yield();
      inside[thread].fetch_sub(1);
    });
  CHECK(shared == 0);
}

TEST_CASE("helpers that fell asleep come back") {
  thread_pool pool({3, true});
  std::atomic<std::size_t> items{0};
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pool.run(300, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
      items += end - begin;
    });
  }
  CHECK(items == 1500);
}

TEST_CASE("pools come and go without a call") {
  for (int i = 0; i < 20; ++i)
    thread_pool({4});
}

} // namespace
} // namespace perigee::engine::cpu
