#include "apps/perigee/signals.hpp"

#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace perigee::app {
namespace {

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
      bool is_first = true;
      for (int got = 0; sigwait(&all, &got) == 0 && !closed_; is_first = false) {
        if (is_first) {
          first_();
          continue;
        }
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
