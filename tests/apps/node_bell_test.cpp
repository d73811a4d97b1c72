#include "apps/perigee/node_bell.hpp"

#include <catch2/catch.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <future>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;
using transport::streams::file;

constexpr auto long_enough = 60s;

/// One name for each run of the tests, for they share the host.
std::string cluster() {
  return "bells of " + std::to_string(getpid());
}

struct bell {
  explicit bell(const std::string& node) {
    auto made = node_bell::hang(cluster(), node, [this] { ++rung; });
    REQUIRE(made);
    hung = std::move(*made);
  }

  std::atomic<int> rung{0};
  std::unique_ptr<node_bell> hung;
};

std::future<result<void, std::string>> ring_later(const std::string& node) {
  return std::async(std::launch::async,
                    [node] { return ring(cluster(), node, long_enough); });
}

/// Somebody who knows where to connect, and no more.
file guest_at(const std::string& node) {
  file made{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  auto name = "perigee/" + cluster() + '/' + node;
  std::memcpy(where.sun_path + 1, name.data(), name.size());
  auto bytes
    = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::connect(made.fd(), reinterpret_cast<const sockaddr*>(&where), bytes) == 0);
  return made;
}

/// What the other side says next; empty if it hangs up.
std::string heard(const file& by) {
  char room[128];
  auto bytes = ::recv(by.fd(), room, sizeof room, 0);
  return {room, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

void say(const file& to, std::string_view what) {
  REQUIRE(::send(to.fd(), what.data(), what.size(), MSG_NOSIGNAL)
          == static_cast<ssize_t>(what.size()));
}

TEST_CASE("who rings is told when the process has ended, and it rings once") {
  bell one{"d0"};
  auto first = ring_later("d0"), second = ring_later("d0");
  auto third = guest_at("d0"); // so that all have come
  CHECK(heard(third) == "ring");
  say(third, "drain");
  CHECK(heard(third) == "draining");
  while (one.rung == 0)
    std::this_thread::yield();
  auto waits
    = [](auto& what) { return what.wait_for(10ms) == std::future_status::timeout; };
  CHECK(waits(first));
  one.hung.reset();
  CHECK(heard(third) == "drained");
  for (auto* each : {&first, &second}) {
    auto said = each->get();
    bool came_too_late = !said && said.error().find("is ending") != std::string::npos;
    bool found_nobody = !said && said.error().find("does not run") != std::string::npos;
    CHECK((said || came_too_late || found_nobody)); // it may not have been heard
  }
  CHECK(one.rung == 1);
}

TEST_CASE("a muted bell is heard, and calls nobody") {
  bell one{"d0"};
  one.hung->mute();
  auto guest = guest_at("d0");
  CHECK(heard(guest) == "ring");
  say(guest, "drain");
  CHECK(heard(guest) == "draining");
  one.hung.reset();
  CHECK(heard(guest) == "drained");
  CHECK(one.rung == 0);
}

TEST_CASE("a node is one process of the host") {
  bell one{"d0"};
  auto second = node_bell::hang(cluster(), "d0", [] {});
  REQUIRE_FALSE(second);
  CHECK(second.error().find("another process of this host is node d0")
        != std::string::npos);
  CHECK(node_bell::hang(cluster(), "d1", [] {}));
}

TEST_CASE("who is not there can't be rung for") {
  auto said = ring(cluster(), "nobody", 1s);
  REQUIRE_FALSE(said);
  CHECK(said.error().find("does not run on this host") != std::string::npos);
}

TEST_CASE("who rings waits no longer than told") {
  bell one{"d0"};
  auto said = ring(cluster(), "d0", 50ms);
  REQUIRE_FALSE(said);
  CHECK(said.error() == "node d0 has not ended in 50 ms");
}

TEST_CASE("who talks nonsense is let go") {
  bell one{"d0"};
  auto guest = guest_at("d0");
  CHECK(heard(guest) == "ring");
  say(guest, "open sesame");
  CHECK(heard(guest).empty());
  CHECK(one.rung == 0);
}

TEST_CASE("so many may wait, and no more") {
  bell one{"d0"};
  std::vector<file> guests;
  for (int i = 0; i < 16; ++i) {
    guests.push_back(guest_at("d0"));
    CHECK(heard(guests.back()) == "ring");
  }
  CHECK(heard(guest_at("d0")) == "too many wait for its end");
  guests.pop_back(); // who hangs up makes room, as soon as that is noticed
  for (std::string said; said != "ring";) {
    said = heard(guest_at("d0"));
    CHECK((said == "ring" || said == "too many wait for its end"));
  }
}

TEST_CASE("another user may not ring, and nobody rings for another user") {
  if (geteuid() != 0) {
    WARN("only root can try this");
    return;
  }
  constexpr uid_t somebody = 65'534;
  bell one{"d0"};
  auto ours = cluster();
  auto child = ::fork();
  if (child == 0) {
    bool is_other = ::setuid(somebody) == 0;
    auto said = ring(ours, "d0", 10s);
    ::_exit(is_other && !said
            && said.error().find("it belongs to another user") != std::string::npos);
  }
  int left = 0;
  REQUIRE(::waitpid(child, &left, 0) == child);
  CHECK(WEXITSTATUS(left) == 1);
  CHECK(one.rung == 0);
}

} // namespace
} // namespace perigee::app
