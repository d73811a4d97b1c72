/// \file
/// tcp_port: makes TCP connections, and accepts them.
#pragma once

#include "transport/streams/port.hpp"
#include "transport/tcp/address.hpp"
#include "transport/tcp/tls.hpp"

namespace perigee::transport::tcp {

class tcp_port final : public streams::port {
public:
  static result<std::unique_ptr<tcp_port>, setup_fault> open(const options& how);

  endpoint here() const override {
    return here_.bytes();
  }

  int fd() const override {
    return socket_.fd();
  }

  std::shared_ptr<streams::stream> accept() override;
  bool allows(const endpoint& where) const override;
  std::shared_ptr<streams::stream> dial(const endpoint& where) const override;

private:
  tcp_port(streams::file socket, const address& here, bool leaves_machine,
           std::shared_ptr<const tls_context> tls)
    : socket_(std::move(socket)), here_(here), leaves_machine_(leaves_machine),
      tls_(std::move(tls)) {}

  std::shared_ptr<streams::stream> stream_over(streams::file socket,
                                               bool is_client) const;

  const streams::file socket_;
  const address here_;
  const bool leaves_machine_;                    ///< It may.
  const std::shared_ptr<const tls_context> tls_; ///< Null for none.
};

} // namespace perigee::transport::tcp
