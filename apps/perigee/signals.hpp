/// \file
/// signals: SIGINT and SIGTERM, as a thread hears them.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace perigee::app {

/// Keeps SIGINT and SIGTERM from every thread that is started during its life, so that
/// a signal_ear gets them, and has SIGPIPE ignored.
class signals_held {
public:
  signals_held();
};

/// Calls `first` when the first of them comes, on a thread of its own. The second ends
/// the process at once. While a signals_held lives.
class signal_ear {
public:
  explicit signal_ear(std::function<void()> first);
  ~signal_ear();
  signal_ear(const signal_ear&) = delete;
  signal_ear& operator=(const signal_ear&) = delete;

private:
  std::function<void()> first_;
  std::atomic<bool> closed_{false};
  std::thread thread_;
};

} // namespace perigee::app
