#include "apps/perigee/processes.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace perigee::app {
namespace {

// A line longer than this is shown in parts.
constexpr std::size_t line_bytes_max = 8192;

constexpr int code_misused = 2; // of a topology that will be no better next time

std::chrono::nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

void show(const std::string& node, std::string_view line) {
  std::fprintf(stderr, "[%s] %.*s\n", node.c_str(), static_cast<int>(line.size()),
               line.data());
}

/// After fork(): calls nothing that another thread may have been in the middle of.
[[noreturn]] void become(char* const* arguments, int lines) {
  setpgid(0, 0); // a terminal's Ctrl-C is for the parent alone
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(lines, STDERR_FILENO);
  dup2(lines, STDOUT_FILENO);
  execv("/proc/self/exe", arguments);
  _exit(127);
}

std::string end_of(int status) {
  if (WIFSIGNALED(status))
    return std::string{"signal "} + std::to_string(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

} // namespace

processes::processes(std::vector<node_process> all, cluster::respawn_limits limits,
                     std::shared_ptr<spdlog::logger> log)
  : log_(std::move(log)) {
  for (auto& how : all)
    children_.push_back(std::make_unique<child>(
      child{std::move(how), cluster::respawn_plan{limits}, 0, 0, {}}));
  for (auto& one : children_)
    one->keeper = std::thread{[this, &of = *one] { keep(of); }};
}

processes::~processes() {
  end();
  for (auto& one : children_)
    if (one->keeper.joinable())
      one->keeper.join();
}

void processes::end() {
  std::lock_guard held{mutex_};
  if (std::exchange(ending_, true))
    return;
  for (const auto& one : children_)
    if (one->pid != 0)
      kill(one->pid, SIGTERM);
  changed_.notify_all();
}

result<void, std::string> processes::wait() {
  for (auto& one : children_)
    one->keeper.join();
  std::lock_guard held{mutex_};
  if (!fault_.empty())
    return failure(fault_);
  return {};
}

/// Its thread lives as long as the process should: who is the parent of a process is a
/// thread, to the system, when that one ends.
void processes::keep(child& one) {
  for (;;) {
    one.plan.started(now());
    if (!run_once(one))
      return;
    if (std::exchange(one.ended_well, false))
      continue; // it was drained: to be replaced, or for its host's sake
    auto wait = one.plan.ended(now());
    if (!wait)
      return fail("node " + one.how.node + " has died too often");
    if (!rest(*wait))
      return;
  }
}

/// False if it shall not be started again.
bool processes::run_once(child& one) {
  int lines = -1;
  auto pid = start(one, lines);
  if (pid < 0)
    return false;
  relay(one.how.node, lines);
  close(lines);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::unique_lock held{mutex_};
  one.pid = 0;
  if (ending_) {
    log_->info("node_ended node={} how=\"{}\"", one.how.node, end_of(status));
    return false;
  }
  one.ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (one.ended_well)
    log_->info("node_drained node={} {}", one.how.node, table());
  else
    log_->warn("node_died node={} how=\"{}\" {}", one.how.node, end_of(status),
               table());
  held.unlock();
  if (WIFEXITED(status) && WEXITSTATUS(status) == code_misused) {
    fail("node " + one.how.node + " cannot run with this topology");
    return false;
  }
  return true;
}

/// Its process; or -1.
int processes::start(child& one, int& lines) {
  std::vector<char*> arguments;
  std::string program{"perigee"};
  arguments.push_back(program.data());
  for (auto& text : one.how.arguments)
    arguments.push_back(text.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    fail(std::string{"no pipe: "} + std::strerror(errno));
    return -1;
  }
  std::unique_lock held{mutex_};
  if (ending_) {
    close(ends[0]);
    close(ends[1]);
    return -1;
  }
  int pid = fork();
  if (pid == 0)
    become(arguments.data(), ends[1]);
  close(ends[1]);
  lines = ends[0];
  if (pid < 0) {
    close(lines);
    held.unlock();
    fail(std::string{"no process: "} + std::strerror(errno));
    return -1;
  }
  one.pid = pid;
  ++one.starts;
  log_->info("node_started node={} {}", one.how.node, table());
  return pid;
}

/// Until nobody writes there any more.
void processes::relay(const std::string& node, int lines) {
  std::string text;
  char part[4096];
  for (;;) {
    auto bytes = read(lines, part, sizeof part);
    if (bytes < 0 && errno == EINTR)
      continue;
    if (bytes <= 0)
      break;
    text.append(part, static_cast<std::size_t>(bytes));
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
      show(node, std::string_view{text}.substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
    if (text.size() >= line_bytes_max) {
      show(node, text);
      text.clear();
    }
  }
  if (!text.empty())
    show(node, text);
}

/// False if all is to end meanwhile.
bool processes::rest(std::chrono::nanoseconds span) {
  std::unique_lock held{mutex_};
  return !changed_.wait_for(held, span, [this] { return ending_; });
}

void processes::fail(const std::string& why) {
  {
    std::lock_guard held{mutex_};
    if (fault_.empty())
      fault_ = why;
  }
  end();
}

/// Who is up, and what was started again: for the log.
std::string processes::table() const {
  std::string text{"nodes=\""};
  for (const auto& one : children_) {
    text += (one == children_.front() ? "" : ", ") + one->how.node + ' ';
    text += one->pid != 0 ? "up (" + std::to_string(one->pid) + ")" : "down";
    if (one->starts > 1)
      text += ", restarts " + std::to_string(one->starts - 1);
  }
  return text + '"';
}

} // namespace perigee::app
