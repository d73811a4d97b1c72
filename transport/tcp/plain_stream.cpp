#include "transport/tcp/plain_stream.hpp"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

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

bool offers_zero_copy(int socket) {
  int yes = 1;
  return setsockopt(socket, SOL_SOCKET, SO_ZEROCOPY, &yes, sizeof yes) == 0;
}

/// What this thread has computed, waits left out.
std::chrono::nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

/// Of a message from the error queue: whether the kernel has copied after all. Nothing
/// if it is about something else.
std::optional<bool> was_copied(msghdr& from) {
  for (auto* at = CMSG_FIRSTHDR(&from); at; at = CMSG_NXTHDR(&from, at)) {
    bool is_error = (at->cmsg_level == SOL_IP && at->cmsg_type == IP_RECVERR)
                    || (at->cmsg_level == SOL_IPV6 && at->cmsg_type == IPV6_RECVERR);
    if (!is_error)
      continue;
    sock_extended_err what{};
    std::memcpy(&what, CMSG_DATA(at), sizeof what);
    if (what.ee_errno == 0 && what.ee_origin == SO_EE_ORIGIN_ZEROCOPY)
      return (what.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0;
  }
  return std::nullopt;
}

} // namespace

plain_stream::plain_stream(streams::file socket)
  : socket_(std::move(socket)), trial_(offers_zero_copy(fd())) {}

progress plain_stream::send(std::span<const iovec> parts, bool more_follows, int) {
  auto what = message_of(parts);
  return progress_of(
    sendmsg(fd(), &what, MSG_NOSIGNAL | MSG_DONTWAIT | (more_follows ? MSG_MORE : 0)));
}

std::size_t plain_stream::pinned_bytes_min() const {
  return trial_.is_on() ? zero_copy_trial::bytes_min : stream::pinned_bytes_min();
}

progress plain_stream::send_pinned(std::span<const iovec> parts) {
  auto what = message_of(parts);
  bool keeps = trial_.wants();
  auto began = thread_time();
  auto bytes
    = sendmsg(fd(), &what, MSG_NOSIGNAL | MSG_DONTWAIT | (keeps ? MSG_ZEROCOPY : 0));
  if (bytes < 0 && errno == ENOBUFS) // as many are kept as may be
    return send(parts, false, -1);
  auto went = progress_of(bytes);
  trial_.sent(keeps, went.bytes, thread_time() - began);
  return went;
}

progress plain_stream::receive(std::span<const iovec> parts) {
  auto what = message_of(parts);
  auto bytes = recvmsg(fd(), &what, MSG_DONTWAIT);
  if (bytes == 0)
    return {.has_ended = true};
  return progress_of(bytes);
}

/// Completions come as errors that are none.
bool plain_stream::survives_error() {
  while (take_completion()) {
  }
  int error = 0;
  socklen_t bytes = sizeof error;
  return getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0;
}

bool plain_stream::take_completion() {
  alignas(cmsghdr) std::array<char, 128> control{};
  msghdr what{};
  what.msg_control = control.data();
  what.msg_controllen = control.size();
  auto began = thread_time();
  if (recvmsg(fd(), &what, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
    return false;
  if (auto copied = was_copied(what))
    trial_.completed(*copied, thread_time() - began);
  return true;
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
