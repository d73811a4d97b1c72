#include "transport/streams/event_loop.hpp"

#include "schemas/assert.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

namespace perigee::transport::streams {

namespace {
constexpr std::uint64_t bell_watch = 0;
} // namespace

std::unique_ptr<event_loop> event_loop::make() {
  file poll{epoll_create1(EPOLL_CLOEXEC)};
  file bell{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  epoll_event rung{EPOLLIN, {.u64 = bell_watch}};
  if (!poll || !bell || epoll_ctl(poll.fd(), EPOLL_CTL_ADD, bell.fd(), &rung) != 0)
    return nullptr;
  return std::unique_ptr<event_loop>{new event_loop{std::move(poll), std::move(bell)}};
}

event_loop::event_loop(file poll, file bell)
  : poll_(std::move(poll)), bell_(std::move(bell)) {}

void event_loop::post(task what) {
  bool is_first = false;
  {
    std::lock_guard held{mutex_};
    is_first = posted_.empty();
    posted_.push_back(std::move(what));
  }
  if (is_first)
    eventfd_write(bell_.fd(), 1);
}

event_loop::watch_id event_loop::watch(int fd, std::uint32_t events, handler told) {
  auto which = ++watches_total_;
  epoll_event how{events, {.u64 = which}};
  if (epoll_ctl(poll_.fd(), EPOLL_CTL_ADD, fd, &how) != 0)
    return 0;
  watches_.emplace(which, std::make_shared<watching>(watching{fd, std::move(told)}));
  return which;
}

void event_loop::change(watch_id which, std::uint32_t events) {
  epoll_event how{events, {.u64 = which}};
  auto failed = epoll_ctl(poll_.fd(), EPOLL_CTL_MOD, watches_.at(which)->fd, &how);
  PERIGEE_ASSERT(failed == 0, "a file was closed while it was watched");
}

void event_loop::unwatch(watch_id which) {
  auto at = watches_.find(which);
  if (at == watches_.end())
    return;
  epoll_ctl(poll_.fd(), EPOLL_CTL_DEL, at->second->fd, nullptr);
  watches_.erase(at);
}

event_loop::timer_id event_loop::at(moment when, task what) {
  auto which = ++timers_total_;
  timers_.emplace(std::pair{when, which}, std::move(what));
  timer_dates_.emplace(which, when);
  return which;
}

void event_loop::cancel(timer_id which) {
  auto at = timer_dates_.find(which);
  if (at == timer_dates_.end())
    return;
  timers_.erase({at->second, which});
  timer_dates_.erase(at);
}

void event_loop::run() {
  std::array<epoll_event, 64> events{};
  for (bool is_last = false; !is_last;) {
    auto count = epoll_wait(poll_.fd(), events.data(), events.size(), wait_ms());
    is_last = run_posted();
    for (int i = 0; i < count; ++i) {
      auto event = events[static_cast<std::size_t>(i)];
      std::uint64_t which = event.data.u64; // which lies unaligned there
      auto at = watches_.find(which);
      if (at == watches_.end())
        continue;             // the bell, or no longer watched
      auto told = at->second; // it may end its own watch
      told->told(event.events);
    }
    run_timers();
  }
}

void event_loop::stop() {
  std::lock_guard held{mutex_};
  stopped_ = true;
  eventfd_write(bell_.fd(), 1);
}

/// Rounded up, so that a timer is due when the wait for it is over.
int event_loop::wait_ms() const {
  if (timers_.empty())
    return -1;
  using std::chrono::milliseconds;
  auto left = std::chrono::ceil<milliseconds>(timers_.begin()->first.first
                                              - std::chrono::steady_clock::now());
  return static_cast<int>(
    std::clamp(left, milliseconds{0}, milliseconds{60'000}).count());
}

/// True if it was stopped. That is read with the bell, lest it be rung for nobody.
bool event_loop::run_posted() {
  std::vector<task> tasks;
  bool is_stopped = false;
  {
    std::lock_guard held{mutex_};
    eventfd_t rung = 0;
    eventfd_read(bell_.fd(), &rung);
    tasks.swap(posted_);
    is_stopped = stopped_;
  }
  for (auto& one : tasks)
    one();
  return is_stopped;
}

void event_loop::run_timers() {
  auto now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto due = timers_.extract(timers_.begin());
    timer_dates_.erase(due.key().second);
    due.mapped()();
  }
}

} // namespace perigee::transport::streams
