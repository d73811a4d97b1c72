#include "transport/tcp/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>

namespace perigee::transport::tcp {

namespace {

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return port;
}

sockaddr_in& as_v4(sockaddr_storage& where) {
  return reinterpret_cast<sockaddr_in&>(where);
}
sockaddr_in6& as_v6(sockaddr_storage& where) {
  return reinterpret_cast<sockaddr_in6&>(where);
}
const sockaddr_in& as_v4(const sockaddr_storage& where) {
  return reinterpret_cast<const sockaddr_in&>(where);
}
const sockaddr_in6& as_v6(const sockaddr_storage& where) {
  return reinterpret_cast<const sockaddr_in6&>(where);
}

} // namespace

std::optional<address> address::read(std::string_view text) {
  auto colon = text.rfind(':');
  if (colon == text.npos)
    return std::nullopt;
  std::string host{text.substr(0, colon)};
  auto port = read_port(text.substr(colon + 1));
  if (!port)
    return std::nullopt;
  address made;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    made.where_.ss_family = AF_INET6;
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), &as_v6(made.where_).sin6_addr) != 1)
      return std::nullopt;
  } else {
    made.where_.ss_family = AF_INET;
    if (inet_pton(AF_INET, host.c_str(), &as_v4(made.where_).sin_addr) != 1)
      return std::nullopt;
  }
  return made.with_port(*port);
}

std::optional<address> address::read(const endpoint& bytes) {
  return read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::optional<address> address::of(int socket) {
  address made;
  socklen_t bytes = sizeof made.where_;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&made.where_), &bytes) != 0)
    return std::nullopt;
  return made;
}

std::string address::text() const {
  char host[INET6_ADDRSTRLEN]{};
  bool is_v6 = family() == AF_INET6;
  const void* from = is_v6 ? static_cast<const void*>(&as_v6(where_).sin6_addr)
                           : &as_v4(where_).sin_addr;
  inet_ntop(family(), from, host, sizeof host);
  std::string made{host};
  if (is_v6)
    made = '[' + made + ']';
  return made + ':' + std::to_string(port());
}

endpoint address::bytes() const {
  auto said = text();
  endpoint made(said.size());
  std::memcpy(made.data(), said.data(), said.size());
  return made;
}

bool address::is_loopback() const {
  if (family() == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&as_v6(where_).sin6_addr) != 0;
  return ntohl(as_v4(where_).sin_addr.s_addr) >> 24 == 127;
}

bool address::is_any() const {
  if (family() == AF_INET6)
    return IN6_IS_ADDR_UNSPECIFIED(&as_v6(where_).sin6_addr) != 0;
  return as_v4(where_).sin_addr.s_addr == INADDR_ANY;
}

std::uint16_t address::port() const {
  return ntohs(family() == AF_INET6 ? as_v6(where_).sin6_port : as_v4(where_).sin_port);
}

address address::with_port(std::uint16_t port) const {
  auto made = *this;
  if (family() == AF_INET6)
    as_v6(made.where_).sin6_port = htons(port);
  else
    as_v4(made.where_).sin_port = htons(port);
  return made;
}

socklen_t address::raw_bytes() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

} // namespace perigee::transport::tcp
