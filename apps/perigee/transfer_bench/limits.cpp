#include "apps/perigee/transfer_bench/limits.hpp"

#include "apps/perigee/transfer_bench/pair.hpp"

#include <boost/json.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

extern char** environ;

namespace perigee::app::transfer_bench {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// -- memcpy -------------------------------------------------------------------

copy_limit::copy_limit()
  : from_(new std::byte[pair::memory_bytes]), to_(new std::byte[pair::memory_bytes]) {
  std::memset(from_, 1, pair::memory_bytes);
  std::memset(to_, 1, pair::memory_bytes);
}

copy_limit::~copy_limit() {
  delete[] from_;
  delete[] to_;
}

double copy_limit::run(std::size_t bytes, std::size_t threads,
                       std::chrono::nanoseconds time) {
  std::atomic<std::uint64_t> copied = 0;
  auto began = clock::now();
  {
    std::vector<std::jthread> all;
    for (std::size_t thread = 0; thread < threads; ++thread)
      all.emplace_back([&, thread] {
        auto blocks = pair::memory_bytes / bytes;
        std::uint64_t sum = 0;
        for (auto at = thread; clock::now() - began < time; at += threads) {
          auto offset = at % blocks * bytes;
          std::memcpy(to_ + offset, from_ + offset, bytes);
          sum += bytes;
        }
        copied += sum;
      });
  }
  std::chrono::duration<double> took = clock::now() - began;
  return static_cast<double>(copied.load()) / took.count();
}

// -- iperf3 -------------------------------------------------------------------

namespace {

/// A port that nobody has, if nobody takes it before we do.
std::optional<int> free_port() {
  int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof where;
  auto* raw = reinterpret_cast<sockaddr*>(&where);
  bool found = bind(probe, raw, bytes) == 0 && getsockname(probe, raw, &bytes) == 0;
  close(probe);
  return found ? std::optional{int{ntohs(where.sin_port)}} : std::nullopt;
}

/// iperf3 that serves one client, and goes with this.
class iperf3_server {
public:
  explicit iperf3_server(const std::string& port) {
    std::array<const char*, 8> words{"iperf3",    "-s", "-1",         "-B",
                                     "127.0.0.1", "-p", port.c_str(), nullptr};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child_, words[0], &quiet, nullptr,
                     const_cast<char**>(words.data()), environ)
        != 0)
      child_ = -1;
    posix_spawn_file_actions_destroy(&quiet);
  }

  iperf3_server(const iperf3_server&) = delete;
  iperf3_server& operator=(const iperf3_server&) = delete;

  ~iperf3_server() {
    if (child_ < 0)
      return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  bool is_there() const {
    return child_ >= 0;
  }

private:
  pid_t child_ = -1;
};

std::string output_of(const std::string& command) {
  std::string all;
  auto* out = popen(command.c_str(), "r"); // NOLINT(cert-env33-c): words of our own
  if (!out)
    return all;
  std::array<char, 4096> some{};
  for (std::size_t n = 0; (n = fread(some.data(), 1, some.size(), out)) > 0;)
    all.append(some.data(), n);
  pclose(out);
  return all;
}

std::optional<double> received(const std::string& report) {
  boost::system::error_code wrong;
  auto said = boost::json::parse(report, wrong);
  if (wrong)
    return std::nullopt;
  const auto* bits = said.find_pointer("/end/sum_received/bits_per_second", wrong);
  if (!bits || !bits->is_number())
    return std::nullopt;
  return bits->to_number<double>() / 8;
}

} // namespace

std::optional<double> iperf3_limit(std::size_t threads) {
  auto port = free_port();
  if (!port)
    return std::nullopt;
  iperf3_server server{std::to_string(*port)};
  if (!server.is_there())
    return std::nullopt;
  constexpr int tries = 10; // until it listens
  for (int i = 0; i < tries; ++i) {
    std::this_thread::sleep_for(50ms);
    auto report = output_of(
      fmt::format("timeout 10 iperf3 -c 127.0.0.1 -p {} -P {} -t 1 -J 2>/dev/null",
                  *port, threads));
    if (auto found = received(report))
      return found;
  }
  return std::nullopt;
}

} // namespace perigee::app::transfer_bench
