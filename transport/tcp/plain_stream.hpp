/// \file
/// plain_stream: bytes over a TCP connection as they are.
#pragma once

#include "transport/streams/stream.hpp"
#include "transport/tcp/zero_copy.hpp"

namespace perigee::transport::tcp {

class plain_stream final : public streams::stream {
public:
  explicit plain_stream(streams::file socket);

  int fd() const override {
    return socket_.fd();
  }

  streams::progress send(std::span<const iovec> parts, bool more_follows,
                         int passed) override;
  std::size_t pinned_bytes_min() const override;
  streams::progress send_pinned(std::span<const iovec> parts) override;
  streams::progress receive(std::span<const iovec> parts) override;
  bool survives_error() override;
  void cut() override;

private:
  bool take_completion();

  const streams::file socket_;
  zero_copy_trial trial_;
};

/// Lets the next close of `socket` discard what was not sent yet, and say so.
void discard_on_close(int socket);

} // namespace perigee::transport::tcp
