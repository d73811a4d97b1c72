/// \file
/// poller: waits for several file descriptors at once.
#pragma once

#include "transport/streams/file.hpp"

#include <chrono>
#include <map>
#include <vector>

namespace perigee::transport::rdma {

class poller {
public:
  poller();

  /// Watches it for what is readable, and for room if `for_room`, from now on.
  void watch(int fd, bool for_room);

  /// To be called before it is closed.
  void forget(int fd);

  /// Those that have news, after `limit` at the latest; negative: however long.
  std::vector<int> wait(std::chrono::nanoseconds limit);

private:
  streams::file epoll_;
  std::map<int, bool> watched_; // for room?
};

} // namespace perigee::transport::rdma
