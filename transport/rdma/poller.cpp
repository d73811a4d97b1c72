#include "transport/rdma/poller.hpp"

#include "schemas/assert.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>

namespace perigee::transport::rdma {

poller::poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  PERIGEE_ASSERT(epoll_, "an epoll descriptor can be made");
}

void poller::watch(int fd, bool for_room) {
  auto [at, is_new] = watched_.try_emplace(fd, for_room);
  if (!is_new && std::exchange(at->second, for_room) == for_room)
    return;
  epoll_event wish{};
  wish.events = EPOLLIN;
  if (for_room)
    wish.events |= EPOLLOUT;
  wish.data.fd = fd;
  epoll_ctl(epoll_.fd(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &wish);
}

void poller::forget(int fd) {
  if (watched_.erase(fd) > 0)
    epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
}

std::vector<int> poller::wait(std::chrono::nanoseconds limit) {
  using std::chrono::milliseconds;
  auto ms = limit.count() < 0
              ? -1
              : static_cast<int>(
                std::min(std::chrono::ceil<milliseconds>(limit), milliseconds{60'000})
                  .count());
  std::array<epoll_event, 64> events;
  int count = epoll_wait(epoll_.fd(), events.data(), events.size(), ms);
  std::vector<int> news;
  for (int i = 0; i < count; ++i)
    news.push_back(events[static_cast<std::size_t>(i)].data.fd);
  return news;
}

} // namespace perigee::transport::rdma
