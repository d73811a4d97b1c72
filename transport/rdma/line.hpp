/// \file
/// line: the TCP connection to a peer, over which wire.hpp is spoken.
#pragma once

#include "transport/rdma/wire.hpp"
#include "transport/streams/file.hpp"
#include "transport/tcp/address.hpp"

namespace perigee::transport::rdma {

/// Listens there. Nothing if that can't be.
streams::file listen_at(const tcp::address& where);

/// Never waits. Who owns it watches fd() for what is readable, and for room while
/// wants_room().
class line {
public:
  /// One that was accepted.
  explicit line(streams::file accepted);

  /// Begins to connect. If it fails at once, ended() is true.
  static line to(const tcp::address& where);

  int fd() const {
    return socket_.fd();
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

  streams::file socket_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  bool is_connecting_ = false;
  bool was_connected_ = false;
  bool has_ended_ = false;
  bool has_hung_up_ = false;
  bool was_unsound_ = false;
};

} // namespace perigee::transport::rdma
