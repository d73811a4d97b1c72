#include "transport/tcp/tcp_port.hpp"

#include "transport/tcp/plain_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>

namespace perigee::transport::tcp {

using streams::file;

namespace {

void set(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

/// What every connection is: without delay, and noticed when the other side is gone.
void tune(int socket) {
  constexpr int unheard_ms = 10'000; // then what was sent and not taken is given up
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, unheard_ms);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 5); // seconds, as the next
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

tl::unexpected<setup_fault> cannot(const std::string& what) {
  return failure(setup_fault{what});
}

result<file, setup_fault> listen_at(const address& where) {
  constexpr int backlog = 128;
  file made{socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (made) {
    set(made.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(made.fd(), where.raw(), where.raw_bytes()) == 0
        && listen(made.fd(), backlog) == 0)
      return made;
  }
  return cannot("cannot listen at " + where.text() + ": " + std::strerror(errno));
}

} // namespace

result<std::unique_ptr<tcp_port>, setup_fault> tcp_port::open(const options& how) {
  constexpr auto example = "' is no address in numbers, as 127.0.0.1:7401 is";
  if (how.links == 0 || how.links > streams::links_max)
    return cannot("a peer has 1 to " + std::to_string(streams::links_max)
                  + " connections");
  auto where = address::read(how.listen);
  if (!where)
    return cannot('\'' + how.listen + example);
  auto shown = how.advertise.empty() ? where : address::read(how.advertise);
  if (!shown)
    return cannot('\'' + how.advertise + example);
  if (shown->is_any())
    return cannot("nobody can connect to " + shown->text()
                  + ": say which address peers are to use");
  bool may_leave = how.tls || how.insecure;
  if (!may_leave && !where->is_loopback())
    return cannot(where->text() + " is beyond this machine, which takes TLS");
  std::shared_ptr<const tls_context> tls;
  if (how.tls) {
    auto read = tls_context::read(*how.tls);
    if (!read)
      return failure(read.error());
    tls = *read;
  }
  auto socket = listen_at(*where);
  if (!socket)
    return failure(socket.error());
  if (shown->port() == 0)
    shown = shown->with_port(address::of(socket->fd())->port());
  return std::unique_ptr<tcp_port>{
    new tcp_port{std::move(*socket), *shown, may_leave, tls}};
}

std::shared_ptr<streams::stream> tcp_port::accept() {
  file made{accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  return made ? stream_over(std::move(made), false) : nullptr;
}

bool tcp_port::allows(const endpoint& where) const {
  auto read = address::read(where);
  return read && read->port() != 0 && !read->is_any()
         && (leaves_machine_ || read->is_loopback());
}

std::shared_ptr<streams::stream> tcp_port::dial(const endpoint& where) const {
  auto to = address::read(where);
  file made{socket(to->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!made
      || (::connect(made.fd(), to->raw(), to->raw_bytes()) != 0
          && errno != EINPROGRESS))
    return nullptr;
  return stream_over(std::move(made), true);
}

std::shared_ptr<streams::stream> tcp_port::stream_over(file socket,
                                                       bool is_client) const {
  tune(socket.fd());
  if (tls_)
    return tls_->stream_over(std::move(socket), is_client);
  return std::make_shared<plain_stream>(std::move(socket));
}

} // namespace perigee::transport::tcp
