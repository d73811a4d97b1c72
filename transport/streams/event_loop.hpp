/// \file
/// event_loop: what one thread does, when files, timers and other threads say so.
#pragma once

#include "transport/streams/file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace perigee::transport::streams {

using moment = std::chrono::steady_clock::time_point;

/// `limit` from now; a long time from now if that is longer than the clock goes.
inline moment after(std::chrono::nanoseconds limit) {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 365};
  return std::chrono::steady_clock::now() + std::min(limit, longest);
}

/// Runs handlers and tasks one after the other, in the thread that calls run(). All but
/// post() and stop() are for that thread, or for before it runs.
class event_loop {
public:
  using task = std::function<void()>;
  using handler = std::function<void(std::uint32_t events)>; ///< As epoll has them.

  /// Neither is used again by a loop. 0 names none.
  using watch_id = std::uint64_t;
  using timer_id = std::uint64_t;

  /// Null if the system has no descriptor left.
  static std::unique_ptr<event_loop> make();

  /// Any thread. What was posted before a file became ready runs before its handler.
  void post(task what);

  /// Calls `told` whenever `fd` has any of `events`. The file stays the caller's, who
  /// ends the watch before closing it. Returns 0 if the system refuses.
  watch_id watch(int fd, std::uint32_t events, handler told);
  void change(watch_id which, std::uint32_t events);

  /// Its handler is not called again, even for what has happened already.
  void unwatch(watch_id which);

  timer_id at(moment when, task what);
  void cancel(timer_id which);

  /// Until stop(). What has been posted by then is run first.
  void run();
  void stop();

private:
  struct watching {
    int fd;
    handler told;
  };

  event_loop(file poll, file bell);
  int wait_ms() const;
  bool run_posted();
  void run_timers();

  const file poll_;
  const file bell_; // rung by post()
  watch_id watches_total_ = 0;
  std::map<watch_id, std::shared_ptr<watching>> watches_;
  timer_id timers_total_ = 0;
  std::map<std::pair<moment, timer_id>, task> timers_;
  std::map<timer_id, moment> timer_dates_;

  std::mutex mutex_; // guards what follows
  std::vector<task> posted_;
  bool stopped_ = false;
};

} // namespace perigee::transport::streams
