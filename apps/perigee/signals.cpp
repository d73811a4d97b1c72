#include "apps/perigee/signals.hpp"

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace perigee::app {
namespace {

/// Who signals a process and its group, as timeout(1) does, means one signal.
constexpr std::chrono::milliseconds same_signal{200};

sigset_t endings() {
  sigset_t all;
  sigemptyset(&all);
  sigaddset(&all, SIGINT);
  sigaddset(&all, SIGTERM);
  return all;
}

} // namespace

signal_sense::meaning signal_sense::take(int signal, std::chrono::nanoseconds now) {
  if (first_ == 0) {
    first_ = signal;
    came_ = now;
    return meaning::end;
  }
  return signal == first_ && now - came_ < same_signal ? meaning::same_again
                                                       : meaning::end_at_once;
}

signals_held::signals_held() {
  auto all = endings();
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

signal_ear::signal_ear(std::function<void()> first)
  : first_(std::move(first)), thread_([this] {
      auto all = endings();
      signal_sense sense;
      for (int got = 0; sigwait(&all, &got) == 0 && !closed_;)
        switch (sense.take(got, std::chrono::steady_clock::now().time_since_epoch())) {
          case signal_sense::meaning::end: first_(); break;
          case signal_sense::meaning::same_again: break;
          case signal_sense::meaning::end_at_once:
            std::fputs("perigee: ended by a second signal\n", stderr);
            std::_Exit(128 + got);
        }
    }) {}

signal_ear::~signal_ear() {
  closed_ = true;
  // Blocked there, so it ends the thread's wait and nothing else.
  // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread)
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
}

} // namespace perigee::app
