/// \file
/// A peer that says whatever a test wants.
#pragma once

#include "tests/transport/peer_bed.hpp"
#include "transport/streams/file.hpp"
#include "transport/streams/frame.hpp"
#include "transport/tcp/address.hpp"

#include <netinet/in.h>
#include <poll.h>

namespace perigee::transport::test {

class raw_peer {
public:
  explicit raw_peer(const endpoint& where)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto to = tcp::address::read(where);
    REQUIRE(to);
    REQUIRE(::connect(socket_.fd(), to->raw(), to->raw_bytes()) == 0);
  }

  template <class Bytes>
  void say(const Bytes& what) {
    REQUIRE(::send(socket_.fd(), what.data(), what.size(), MSG_NOSIGNAL)
            == static_cast<ssize_t>(what.size()));
  }

  void say(const streams::frame& what) {
    say(streams::write(what));
  }

  /// As say(), to who may have hung up.
  bool try_to_say(const std::vector<std::byte>& what) {
    return ::send(socket_.fd(), what.data(), what.size(), MSG_NOSIGNAL | MSG_DONTWAIT)
           == static_cast<ssize_t>(what.size());
  }

  std::vector<std::byte> hear(std::size_t bytes) {
    std::vector<std::byte> heard(bytes);
    for (std::size_t at = 0; at < bytes;) {
      wait();
      auto now = ::recv(socket_.fd(), heard.data() + at, bytes - at, 0);
      REQUIRE(now > 0);
      at += static_cast<std::size_t>(now);
    }
    return heard;
  }

  /// The next frame, of those that have no payload.
  streams::frame hear_frame() {
    for (;;) {
      auto byte = hear(1);
      std::span<const std::byte> rest{byte};
      auto found = parser_.take(rest);
      REQUIRE(found);
      if (*found)
        return **found;
    }
  }

  /// Waits until the other side has hung up, within a minute. What it says is ignored.
  bool is_cut_off() {
    std::array<std::byte, 4096> ignored{};
    ssize_t now = 1;
    while (now > 0) {
      wait();
      now = ::recv(socket_.fd(), ignored.data(), ignored.size(), 0);
    }
    return true;
  }

  /// Shows a ticket that is expected, as the only connection of a peer.
  void come_in(const ticket& shown) {
    say(streams::write(streams::hello{.shown = shown}));
    auto said = hear(streams::welcome_bytes);
    auto is_welcome
      = streams::read_welcome(std::span<const std::byte, streams::welcome_bytes>{said});
    REQUIRE(is_welcome);
    CHECK(*is_welcome);
  }

private:
  void wait() {
    constexpr int minute_ms = 60'000;
    pollfd what{socket_.fd(), POLLIN, 0};
    REQUIRE(::poll(&what, 1, minute_ms) == 1);
  }

  streams::file socket_;
  streams::frame_parser parser_;
};

} // namespace perigee::transport::test
