/// \file
/// address: where a process listens, in numbers. Names are for others to look up.
#pragma once

#include "transport/peer.hpp"

#include <sys/socket.h>

#include <string>
#include <string_view>

namespace perigee::transport::tcp {

class address {
public:
  /// Of "127.0.0.1:7401", "[::1]:7401"; port 0 lets the system choose. Nothing if it is
  /// none.
  static std::optional<address> read(std::string_view text);
  static std::optional<address> read(const endpoint& bytes);

  /// What `socket` is bound to.
  static std::optional<address> of(int socket);

  std::string text() const;
  endpoint bytes() const;

  bool is_loopback() const;

  /// All addresses of the machine: nobody can connect to that.
  bool is_any() const;

  std::uint16_t port() const;
  address with_port(std::uint16_t port) const;

  int family() const {
    return where_.ss_family;
  }

  const sockaddr* raw() const {
    return reinterpret_cast<const sockaddr*>(&where_);
  }

  socklen_t raw_bytes() const;

private:
  sockaddr_storage where_{};
};

} // namespace perigee::transport::tcp
