#include "transport/rdma/line.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace perigee::transport::rdma {

namespace {

/// A peer that lets so much pile up does not listen.
constexpr std::size_t out_bytes_max = std::size_t{1} << 20;

void set(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

/// A host that dies without a word is noticed within about five seconds.
void watch_over(int fd) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 2);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 5000); // ms
}

bool would_wait() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

} // namespace

streams::file listen_at(const tcp::address& where) {
  streams::file made{
    socket(where.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!made)
    return made;
  set(made.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(made.fd(), where.raw(), where.raw_bytes()) != 0
      || listen(made.fd(), 64) != 0)
    return streams::file{};
  return made;
}

line::line(streams::file accepted)
  : socket_(std::move(accepted)), was_connected_(true) {
  watch_over(fd());
}

line line::to(const tcp::address& where) {
  line made;
  made.socket_ = streams::file{
    socket(where.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  made.is_connecting_ = true;
  watch_over(made.fd());
  if (::connect(made.fd(), where.raw(), where.raw_bytes()) != 0 && errno != EINPROGRESS)
    made.end();
  return made;
}

void line::send(const message& what) {
  if (has_ended_)
    return;
  auto bytes = encode(what);
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  if (out_.size() > out_bytes_max)
    return end();
  if (!is_connecting_)
    flush();
}

void line::flush() {
  if (has_ended_)
    return;
  if (is_connecting_) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
      return end();
    is_connecting_ = false;
    was_connected_ = true;
  }
  while (!out_.empty()) {
    auto sent = ::send(fd(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (!would_wait())
        end();
      return;
    }
    out_.erase(out_.begin(), out_.begin() + sent);
  }
}

std::optional<message> line::receive() {
  if (is_connecting_ || has_ended_)
    return std::nullopt;
  fill();
  auto next = decode(in_);
  if (!next.sound) {
    was_unsound_ = true;
    end();
    return std::nullopt;
  }
  if (!next.what && has_hung_up_)
    end(); // all that came before has been heard
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(next.bytes));
  return std::move(next.what);
}

/// Takes in what has come, up to a frame.
void line::fill() {
  while (!has_hung_up_ && in_.size() < frame_bytes_max + 64) {
    std::byte part[4096];
    auto got = recv(fd(), part, sizeof part, 0);
    if (got > 0)
      in_.insert(in_.end(), part, part + got);
    else if (got == 0 || !would_wait())
      has_hung_up_ = true;
    else
      return;
  }
}

void line::end() {
  has_ended_ = true;
  is_connecting_ = false;
  out_.clear();
}

} // namespace perigee::transport::rdma
