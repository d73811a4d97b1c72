#include "apps/perigee/node_bell.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace perigee::app {
namespace {

using transport::streams::file;

constexpr std::size_t guests_max = 16;
// Who rings waits for the greeting: what nobody has read when a connection is closed
// would take a refusal with it.
constexpr std::string_view greeting = "ring", wish = "drain", consent = "draining",
                           done = "drained";
constexpr std::string_view refusal = "it belongs to another user";
constexpr std::string_view crowd = "too many wait for its end";

struct address {
  sockaddr_un raw{};
  socklen_t bytes = 0;
};

/// No file: it is gone with the process that has it.
address address_of(const std::string& cluster, const std::string& node) {
  address made;
  made.raw.sun_family = AF_UNIX;
  auto name = "perigee/" + cluster + '/' + node;
  name.resize(std::min(name.size(), sizeof made.raw.sun_path - 1));
  std::memcpy(made.raw.sun_path + 1, name.data(), name.size());
  made.bytes
    = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return made;
}

file open_socket() {
  return file{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
}

const sockaddr* raw(const address& of) {
  return reinterpret_cast<const sockaddr*>(&of.raw);
}

void say(int to, std::string_view what) {
  static_cast<void>(::send(to, what.data(), what.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

/// Empty at the end of the connection.
std::string heard_from(int from) {
  std::array<char, 128> room;
  auto bytes = ::recv(from, room.data(), room.size(), 0);
  return {room.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

std::optional<uid_t> user_of(int other) {
  ucred who{};
  socklen_t bytes = sizeof who;
  if (getsockopt(other, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0)
    return std::nullopt;
  return who.uid;
}

bool may_ring(int guest) {
  auto who = user_of(guest);
  return who == geteuid() || who == 0;
}

/// Anybody may have taken the name: the node is of our user, or root's; and root may
/// ring for whomever.
bool may_be_it(int host) {
  return geteuid() == 0 || may_ring(host);
}

} // namespace

result<std::unique_ptr<node_bell>, std::string>
node_bell::hang(const std::string& cluster, const std::string& node,
                std::function<void()> rung) {
  auto listening = open_socket();
  file stopping{eventfd(0, EFD_CLOEXEC)};
  auto at = address_of(cluster, node);
  if (!listening || !stopping || ::bind(listening.fd(), raw(at), at.bytes) != 0
      || ::listen(listening.fd(), guests_max) != 0)
    return failure(errno == EADDRINUSE ? "another process of this host is node " + node
                                           + " of cluster " + cluster
                                       : std::string{std::strerror(errno)});
  return std::unique_ptr<node_bell>{
    new node_bell{std::move(listening), std::move(stopping), std::move(rung)}};
}

node_bell::node_bell(file listening, file stopping, std::function<void()> rung)
  : listening_(std::move(listening)), stopping_(std::move(stopping)),
    rung_(std::move(rung)), thread_([this] { listen(); }) {}

node_bell::~node_bell() {
  static_cast<void>(eventfd_write(stopping_.fd(), 1));
  thread_.join();
  for (const auto& one : guests_)
    say(one.fd(), done);
}

void node_bell::mute() {
  std::lock_guard held{mutex_};
  has_rung_ = true;
}

void node_bell::listen() {
  for (;;) {
    std::vector<pollfd> all{{stopping_.fd(), POLLIN, 0}, {listening_.fd(), POLLIN, 0}};
    for (const auto& one : guests_)
      all.push_back({one.fd(), POLLIN, 0});
    if (::poll(all.data(), all.size(), -1) < 0 && errno != EINTR)
      return;
    if (all[0].revents != 0)
      return;
    for (std::size_t i = all.size(); i > 2; --i)
      if (all[i - 1].revents != 0 && !hear(all[i - 1].fd))
        guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(i - 3));
    if (all[1].revents != 0)
      admit();
  }
}

void node_bell::admit() {
  file guest{::accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC)};
  if (!guest) { // no descriptor is free: the listener stays ready meanwhile
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    return;
  }
  if (!may_ring(guest.fd()))
    return say(guest.fd(), refusal);
  if (guests_.size() >= guests_max)
    return say(guest.fd(), crowd);
  say(guest.fd(), greeting);
  guests_.push_back(std::move(guest));
}

/// False if it has hung up, or talks nonsense.
bool node_bell::hear(int guest) {
  if (heard_from(guest) != wish)
    return false;
  say(guest, consent);
  std::lock_guard held{mutex_};
  if (!std::exchange(has_rung_, true))
    rung_();
  return true;
}

result<void, std::string> ring(const std::string& cluster, const std::string& node,
                               std::chrono::milliseconds limit) {
  auto way = open_socket();
  auto at = address_of(cluster, node);
  timeval most{limit.count() / 1000, limit.count() % 1000 * 1000};
  if (way)
    setsockopt(way.fd(), SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  if (!way || ::connect(way.fd(), raw(at), at.bytes) != 0)
    return failure("node " + node + " of cluster " + cluster
                   + " does not run on this host: expected its name, and its cluster's "
                     "(--cluster)");
  if (!may_be_it(way.fd()))
    return failure("who answers to node " + node + " belongs to another user");
  auto until = std::chrono::steady_clock::now() + limit;
  for (bool consents = false;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
    pollfd what{way.fd(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&what, 1, static_cast<int>(left.count())) == 0)
      return failure("node " + node + " has not ended in "
                     + std::to_string(limit.count()) + " ms");
    if (what.revents == 0)
      continue; // a signal
    auto said = heard_from(way.fd());
    if (said == done)
      return {};
    if (said.empty() && consents)
      return failure("node " + node + " has ended before it was drained");
    if (said == greeting) {
      say(way.fd(), wish);
      continue;
    }
    if (said != consent)
      return failure("node " + node
                     + " refuses: " + (said.empty() ? "it is ending" : said));
    consents = true;
  }
}

} // namespace perigee::app
