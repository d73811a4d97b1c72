#include "transport/tcp/plain_stream.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace perigee::transport::tcp {

using streams::progress;

namespace {

progress progress_of(ssize_t bytes) {
  if (bytes > 0)
    return {.bytes = static_cast<std::size_t>(bytes)};
  return {.has_ended = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR};
}

msghdr message_of(std::span<const iovec> parts) {
  msghdr made{};
  made.msg_iov = const_cast<iovec*>(parts.data()); // which no call writes to
  made.msg_iovlen = parts.size();
  return made;
}

} // namespace

progress plain_stream::send(std::span<const iovec> parts, bool more_follows, int) {
  auto what = message_of(parts);
  return progress_of(
    sendmsg(fd(), &what, MSG_NOSIGNAL | MSG_DONTWAIT | (more_follows ? MSG_MORE : 0)));
}

progress plain_stream::receive(std::span<const iovec> parts) {
  auto what = message_of(parts);
  auto bytes = recvmsg(fd(), &what, MSG_DONTWAIT);
  if (bytes == 0)
    return {.has_ended = true};
  return progress_of(bytes);
}

void plain_stream::cut() {
  discard_on_close(fd());
  shutdown(fd(), SHUT_RD);
}

void discard_on_close(int socket) {
  linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

} // namespace perigee::transport::tcp
