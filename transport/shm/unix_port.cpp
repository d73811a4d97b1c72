#include "transport/shm/unix_port.hpp"

#include "transport/shm/unix_stream.hpp"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace perigee::transport::shm {

using streams::file;

namespace {

/// A path, or a name outside of the file system, which begins with an '@'.
bool is_name(std::string_view text) {
  return text.size() > 1 && text.size() < sizeof(sockaddr_un::sun_path)
         && (text.front() == '@' || text.front() == '/')
         && text.find('\0') == text.npos;
}

struct address {
  explicit address(std::string_view name) {
    where.sun_family = AF_UNIX;
    std::memcpy(where.sun_path, name.data(), name.size());
    if (name.front() == '@')
      where.sun_path[0] = '\0';
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size()
                                   + (name.front() == '/'));
  }

  const sockaddr* raw() const {
    return reinterpret_cast<const sockaddr*>(&where);
  }

  sockaddr_un where{};
  socklen_t bytes = 0;
};

file make_socket() {
  return file{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
}

std::string random_name() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, 16> drawn{};
  if (getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size()))
    return {};
  std::string made = "@perigee-";
  for (auto one : drawn) {
    made += digits[one >> 4];
    made += digits[one & 15];
  }
  return made;
}

std::string_view text_of(const endpoint& where) {
  return {reinterpret_cast<const char*>(where.data()), where.size()};
}

} // namespace

result<std::unique_ptr<unix_port>, setup_fault> unix_port::open(const options& how) {
  constexpr int backlog = 128;
  auto name = how.path.empty() ? random_name() : how.path;
  if (!is_name(name) || (!how.path.empty() && name.front() != '/'))
    return failure(setup_fault{'\'' + name + "' is no path that a socket can have: it "
                               + "begins with / and has less than "
                               + std::to_string(sizeof(sockaddr_un::sun_path))
                               + " bytes"});
  address where{name};
  auto made = make_socket();
  if (!made || bind(made.fd(), where.raw(), where.bytes) != 0
      || listen(made.fd(), backlog) != 0)
    return failure(
      setup_fault{"cannot listen at '" + name + "': " + std::strerror(errno)});
  endpoint here(name.size());
  std::memcpy(here.data(), name.data(), name.size());
  return std::unique_ptr<unix_port>{new unix_port{std::move(made), how.path, here}};
}

unix_port::~unix_port() {
  if (!path_.empty())
    unlink(path_.c_str());
}

std::shared_ptr<streams::stream> unix_port::accept() {
  file made{accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  return made ? std::make_shared<unix_stream>(std::move(made)) : nullptr;
}

bool unix_port::allows(const endpoint& where) const {
  return is_name(text_of(where));
}

std::shared_ptr<streams::stream> unix_port::dial(const endpoint& where) const {
  address to{text_of(where)};
  auto made = make_socket();
  if (!made || ::connect(made.fd(), to.raw(), to.bytes) != 0)
    return nullptr;
  return std::make_shared<unix_stream>(std::move(made));
}

} // namespace perigee::transport::shm
