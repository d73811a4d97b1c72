/// \file
/// line: the TCP connection to a peer, over which wire.hpp is spoken.
#pragma once

#include "transport/rdma/wire.hpp"

#include <deque>

namespace perigee::transport::verbs {

/// A file descriptor, closed at the end.
class owned_fd {
public:
  explicit owned_fd(int fd = -1) : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~owned_fd();

  int get() const {
    return fd_;
  }
  explicit operator bool() const {
    return fd_ >= 0;
  }

private:
  int fd_;
};

/// Listens there; port 0 is one that the system picks. Nothing if that can't be.
owned_fd listen_at(const line_address& where);

/// Where a listening socket is.
line_address address_of(const owned_fd& listening);

/// Never waits. Who owns it watches fd() for what is readable, and for room while
/// wants_room().
class line {
public:
  /// One that was accepted.
  explicit line(owned_fd accepted);

  /// Begins to connect. If it fails at once, ended() is true.
  static line to(const line_address& where);

  int fd() const {
    return socket_.get();
  }
  bool wants_room() const {
    return is_connecting_ || !out_.empty();
  }

  /// It has never been connected, or is no longer.
  bool ended() const {
    return has_ended_;
  }
  bool was_connected() const {
    return was_connected_;
  }
  /// It has ended because what came was no message.
  bool was_unsound() const {
    return was_unsound_;
  }

  void send(const message& what);

  /// The next message that has come, if there is one.
  std::optional<message> receive();

  /// Goes on with what was to be sent. Call it when there is room.
  void flush();

private:
  line() = default;
  void fill();
  void end();

  owned_fd socket_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  bool is_connecting_ = false;
  bool was_connected_ = false;
  bool has_ended_ = false;
  bool has_hung_up_ = false;
  bool was_unsound_ = false;
};

} // namespace perigee::transport::verbs
