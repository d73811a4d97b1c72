#include "apps/perigee/busy_process.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace perigee::app {
namespace {

/// What the child does. Only calls that are allowed after fork() in a process that has
/// threads.
[[noreturn]] void compute() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  cpu_set_t ours;
  if (::sched_getaffinity(0, sizeof ours, &ours) == 0)
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
      if (CPU_ISSET(processor, &ours)) {
        CPU_ZERO(&ours);
        CPU_SET(processor, &ours);
        ::sched_setaffinity(0, sizeof ours, &ours);
        break;
      }
  for (;;)
    asm volatile("");
}

} // namespace

busy_process::busy_process() {
  child_ = ::fork();
  if (child_ == 0)
    compute();
}

busy_process::~busy_process() {
  if (child_ <= 0)
    return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

} // namespace perigee::app
