/// \file
/// plain_stream: bytes over a TCP connection as they are.
#pragma once

#include "transport/streams/stream.hpp"

namespace perigee::transport::tcp {

class plain_stream final : public streams::stream {
public:
  explicit plain_stream(streams::file socket) : socket_(std::move(socket)) {}

  int fd() const override {
    return socket_.fd();
  }

  streams::progress send(std::span<const iovec> parts, bool more_follows,
                         int passed) override;
  streams::progress receive(std::span<const iovec> parts) override;
  void cut() override;

private:
  const streams::file socket_;
};

/// Lets the next close of `socket` discard what was not sent yet, and say so.
void discard_on_close(int socket);

} // namespace perigee::transport::tcp
