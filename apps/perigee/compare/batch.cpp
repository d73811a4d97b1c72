#include "apps/perigee/compare/batch.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <thread>

namespace perigee::app {
namespace {

// What a child writes: "ok" and a line for each figure, or "failed" and why.

std::string to_lines(const run_result& came) {
  if (!came)
    return "failed\n" + came.error();
  std::string text = "ok\n";
  for (const auto& one : *came)
    text += one.name + ' ' + std::to_string(one.value.scaled) + ' '
            + std::to_string(one.value.digits) + '\n';
  return text;
}

run_result from_lines(const std::string& text) {
  constexpr std::string_view failed = "failed\n";
  if (text.starts_with(failed))
    return failure(text.substr(failed.size()));
  std::istringstream lines{text};
  std::string word;
  lines >> word;
  figures all;
  figure one;
  while (lines >> one.name >> one.value.scaled >> one.value.digits)
    all.push_back(one);
  return all;
}

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    auto count = write(to, text.data(), text.size());
    if (count < 0 && errno != EINTR)
      return; // the parent is gone
    text.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

/// A run in a process of its own.
class child {
public:
  /// Fails with a sentence.
  static result<child, std::string> start(const run_work& work, std::size_t index) {
    int ends[2];
    if (pipe(ends) != 0)
      return failure(std::string{"no pipe: "} + std::strerror(errno));
    std::fflush(nullptr); // or both processes would write what is buffered
    auto made = fork();
    if (made == 0) {
      close(ends[0]);
      write_all(ends[1], to_lines(work()));
      _exit(0);
    }
    close(ends[1]);
    if (made < 0) {
      close(ends[0]);
      return failure(std::string{"no process: "} + std::strerror(errno));
    }
    return child{made, ends[0], index};
  }

  int output() const {
    return output_;
  }
  std::size_t index() const {
    return index_;
  }

  /// True once nothing more comes.
  bool read_some() {
    char part[4096];
    auto count = read(output_, part, sizeof part);
    if (count > 0)
      text_.append(part, static_cast<std::size_t>(count));
    return count == 0 || (count < 0 && errno != EINTR);
  }

  run_result finish() {
    close(output_);
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
      return failure("the run was ended by signal " + std::to_string(WTERMSIG(status)));
    if (text_.empty())
      return failure(std::string{"the run ended without a word"});
    return from_lines(text_);
  }

private:
  child(pid_t process, int output, std::size_t index)
    : process_(process), output_(output), index_(index) {}

  pid_t process_;
  int output_;
  std::size_t index_;
  std::string text_;
};

/// Waits until some have something to say; takes out who has ended.
std::vector<child> take_ended(std::vector<child>& running) {
  std::vector<pollfd> waited;
  for (const auto& one : running)
    waited.push_back({one.output(), POLLIN, 0});
  poll(waited.data(), waited.size(), -1);
  std::vector<child> ended, others;
  for (std::size_t i = 0; i < running.size(); ++i) {
    bool is_over = waited[i].revents != 0 && running[i].read_some();
    (is_over ? ended : others).push_back(std::move(running[i]));
  }
  running = std::move(others);
  return ended;
}

} // namespace

std::vector<run_result> run_batch(std::span<const run_work> all, std::size_t at_once,
                                  const std::function<void(std::size_t)>& told) {
  std::vector<run_result> came(all.size(), failure(std::string{"not run"}));
  std::vector<child> running;
  std::size_t next = 0, done = 0;
  told(done);
  while (next < all.size() || !running.empty()) {
    while (next < all.size() && running.size() < std::max<std::size_t>(at_once, 1)) {
      auto started = child::start(all[next], next);
      if (started)
        running.push_back(std::move(*started));
      else
        came[next] = failure(started.error());
      ++next;
    }
    if (running.empty())
      continue;
    for (auto& one : take_ended(running)) {
      came[one.index()] = one.finish();
      told(++done);
    }
  }
  return came;
}

std::size_t default_jobs() {
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace perigee::app
