#include "apps/perigee/signals.hpp"

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace perigee::app {
namespace {

using std::chrono::steady_clock;

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

signals_held::signals_held() {
  auto all = endings();
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

signal_ear::signal_ear(std::function<void()> first)
  : first_(std::move(first)), thread_([this] {
      auto all = endings();
      int before = 0;
      steady_clock::time_point came{};
      for (int got = 0; sigwait(&all, &got) == 0 && !closed_;) {
        if (before == 0) {
          before = got;
          came = steady_clock::now();
          first_();
          continue;
        }
        if (got == before && steady_clock::now() - came < same_signal)
          continue;
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
