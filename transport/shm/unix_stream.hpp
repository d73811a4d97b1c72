/// \file
/// unix_stream: bytes and files to and from another process on this host.
#pragma once

#include "transport/streams/stream.hpp"

#include <deque>

namespace perigee::transport::shm {

class unix_stream final : public streams::stream {
public:
  /// Learns whose process is at the other end of the connection, where the system says.
  explicit unix_stream(streams::file socket);

  int fd() const override {
    return socket_.fd();
  }

  int life() const override {
    return process_.fd();
  }

  streams::progress send(std::span<const iovec> parts, bool more_follows,
                         int passed) override;
  streams::progress receive(std::span<const iovec> parts) override;
  std::optional<streams::file> take_file() override;
  void cut() override;

private:
  const streams::file socket_;
  const streams::file process_; // none if the system does not say
  std::deque<streams::file> files_;
};

} // namespace perigee::transport::shm
