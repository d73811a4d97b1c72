#include "transport/shm/unix_stream.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace perigee::transport::shm {

using streams::file;
using streams::progress;

namespace {

/// Files that have come with frames which are not whole yet: a peer shows one at a time.
constexpr std::size_t files_max = 8;

#ifndef SO_PEERPIDFD
constexpr int SO_PEERPIDFD = 77; // since Linux 6.5; headers are older
#endif

/// A file that becomes readable when the process at the other end has ended.
file process_behind(int socket) {
  int pidfd = -1;
  socklen_t bytes = sizeof pidfd;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &bytes) == 0)
    return file{pidfd};
  ucred who{};
  bytes = sizeof who;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0 || who.pid <= 0)
    return {};
  return file{static_cast<int>(syscall(SYS_pidfd_open, who.pid, 0))};
}

progress progress_of(ssize_t bytes) {
  if (bytes > 0)
    return {.bytes = static_cast<std::size_t>(bytes)};
  return {.has_ended = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR};
}

struct message {
  explicit message(std::span<const iovec> parts) {
    head.msg_iov = const_cast<iovec*>(parts.data()); // which no call writes to
    head.msg_iovlen = parts.size();
  }

  void make_room() {
    head.msg_control = control.data();
    head.msg_controllen = control.size();
  }

  msghdr head{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
};

} // namespace

unix_stream::unix_stream(file socket)
  : socket_(std::move(socket)), process_(process_behind(socket_.fd())) {}

progress unix_stream::send(std::span<const iovec> parts, bool, int passed) {
  message what{parts};
  if (passed >= 0) {
    what.make_room();
    auto* about = CMSG_FIRSTHDR(&what.head);
    about->cmsg_level = SOL_SOCKET;
    about->cmsg_type = SCM_RIGHTS;
    about->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(about), &passed, sizeof passed);
  }
  return progress_of(sendmsg(fd(), &what.head, MSG_NOSIGNAL | MSG_DONTWAIT));
}

progress unix_stream::receive(std::span<const iovec> parts) {
  message what{parts};
  what.make_room();
  auto bytes = recvmsg(fd(), &what.head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (bytes == 0)
    return {.has_ended = true};
  for (auto* at = bytes > 0 ? CMSG_FIRSTHDR(&what.head) : nullptr; at;
       at = CMSG_NXTHDR(&what.head, at))
    if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS) {
      int came = -1; // there is room for one: the system has closed all others
      std::memcpy(&came, CMSG_DATA(at), sizeof came);
      files_.emplace_back(came);
    }
  if (files_.size() > files_max)
    return {.has_ended = true};
  return progress_of(bytes);
}

std::optional<file> unix_stream::take_file() {
  if (files_.empty())
    return std::nullopt;
  auto first = std::move(files_.front());
  files_.pop_front();
  return first;
}

void unix_stream::cut() {
  shutdown(fd(), SHUT_RDWR);
}

} // namespace perigee::transport::shm
