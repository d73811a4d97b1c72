#include "transport/streams/event_loop.hpp"

#include <catch2/catch.hpp>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <thread>

namespace perigee::transport::streams {
namespace {

using namespace std::chrono_literals;

TEST_CASE(
  "a loop that is told to stop while it wakes stops, and runs what was posted") {
  for (int round = 0; round < 2000; ++round) {
    auto loop = event_loop::make();
    REQUIRE(loop);
    int run = 0;
    std::thread thread{[&] { loop->run(); }};
    loop->post([&] { ++run; });
    loop->post([&] { ++run; });
    loop->stop();
    thread.join();
    CHECK(run == 2);
  }
}

TEST_CASE("what was posted before a file is ready runs before its handler") {
  auto loop = event_loop::make();
  file ready{eventfd(0, EFD_CLOEXEC)};
  std::vector<int> order;
  loop->watch(ready.fd(), EPOLLIN, [&](std::uint32_t) {
    order.push_back(2);
    loop->stop();
  });
  loop->post([&] { order.push_back(1); });
  eventfd_write(ready.fd(), 1);
  loop->run();
  CHECK(order.front() == 1);
  CHECK(order.back() == 2);
}

TEST_CASE("timers run in order, unless they are cancelled, and so do watches") {
  auto loop = event_loop::make();
  file ready{eventfd(1, EFD_CLOEXEC)};
  std::vector<int> order;
  auto now = std::chrono::steady_clock::now();
  loop->at(now + 2ms, [&] {
    order.push_back(2);
    loop->stop();
  });
  loop->at(now + 1ms, [&] { order.push_back(1); });
  loop->cancel(loop->at(now, [&] { order.push_back(0); }));
  auto watch
    = loop->watch(ready.fd(), EPOLLIN, [&](std::uint32_t) { order.push_back(9); });
  loop->unwatch(watch);
  loop->run();
  CHECK(order == std::vector<int>{1, 2});
}

} // namespace
} // namespace perigee::transport::streams
