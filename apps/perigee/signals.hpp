/// \file
/// signals: SIGINT and SIGTERM, as a thread hears them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace perigee::app {

/// Keeps SIGINT and SIGTERM from every thread that is started during its life, so that
/// a signal_ear gets them, and has SIGPIPE ignored.
class signals_held {
public:
  signals_held();
};

/// What a signal that comes means, by those before it. Pure.
class signal_sense {
public:
  enum class meaning : std::uint8_t {
    end,        ///< The first: end in good order.
    same_again, ///< The same once more, as whoever signals a process and its group sends.
    end_at_once ///< A second.
  };

  /// `signal` comes at `now`, on a clock that never goes back.
  meaning take(int signal, std::chrono::nanoseconds now);

private:
  int first_ = 0; // none yet
  std::chrono::nanoseconds came_{};
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
