#include "apps/perigee/transfer_bench/limits.hpp"

#include <boost/json.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <sstream>
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

// -- programs of others ---------------------------------------------------------

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

/// A program that serves one client, and goes with this.
class server {
public:
  explicit server(std::vector<std::string> words) {
    std::vector<char*> raw;
    for (auto& one : words)
      raw.push_back(one.data());
    raw.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child_, raw[0], &quiet, nullptr, raw.data(), environ) != 0)
      child_ = -1;
    posix_spawn_file_actions_destroy(&quiet);
  }

  server(const server&) = delete;
  server& operator=(const server&) = delete;

  ~server() {
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

/// What `client` makes of it, once `serving` listens.
std::optional<double>
measured(const std::vector<std::string>& serving, const std::string& client,
         const std::function<std::optional<double>(const std::string&)>& read) {
  constexpr int tries = 10;
  server other_end{serving};
  for (int i = 0; i < tries && other_end.is_there(); ++i) {
    std::this_thread::sleep_for(50ms);
    if (auto found = read(output_of("timeout 10 " + client + " 2>/dev/null")))
      return found;
  }
  return std::nullopt;
}

std::optional<double> read_iperf3(const std::string& report) {
  boost::system::error_code wrong;
  auto said = boost::json::parse(report, wrong);
  if (wrong)
    return std::nullopt;
  const auto* bits = said.find_pointer("/end/sum_received/bits_per_second", wrong);
  if (!bits || !bits->is_number())
    return std::nullopt;
  return bits->to_number<double>() / 8;
}

/// Of its table's only line the fourth number: the average in Gbit/s.
std::optional<double> read_perftest(const std::string& report) {
  auto at = report.find("#bytes");
  at = at == std::string::npos ? at : report.find('\n', at);
  if (at == std::string::npos)
    return std::nullopt;
  std::istringstream line{report.substr(at)};
  double bytes = 0, count = 0, peak = 0, average = 0;
  if (!(line >> bytes >> count >> peak >> average) || average <= 0)
    return std::nullopt;
  return average * 1e9 / 8;
}

} // namespace

std::optional<double> iperf3_limit(std::size_t threads) {
  auto port = free_port();
  if (!port)
    return std::nullopt;
  return measured(
    {"iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", std::to_string(*port)},
    fmt::format("iperf3 -c 127.0.0.1 -p {} -P {} -t 1 -J", *port, threads),
    read_iperf3);
}

std::optional<double> perftest_limit(const load& how, const device_names& devices,
                                     double expected, std::chrono::nanoseconds time) {
  constexpr std::size_t message_bytes_max = std::size_t{8} << 20;
  constexpr double count_min = 8;
  auto port = free_port();
  if (!port)
    return std::nullopt;
  auto bytes = std::min(how.bytes, message_bytes_max);
  auto seconds = std::chrono::duration<double>{time}.count();
  auto count = std::max(count_min, expected * seconds / static_cast<double>(bytes)
                                     / static_cast<double>(how.threads));
  auto common
    = fmt::format("{} -F -p {} -s {} -n {} -q {} -t {}",
                  how.direction == way::write ? "ib_write_bw" : "ib_read_bw", *port,
                  bytes, static_cast<std::uint64_t>(count), how.threads, how.depth);
  auto on = [&](const std::string& device) {
    return device.empty() ? common : common + " -d " + device;
  };
  std::vector<std::string> serving;
  std::istringstream words{on(devices[1])};
  for (std::string one; words >> one;)
    serving.push_back(one);
  return measured(serving, on(devices[0]) + " --report_gbits 127.0.0.1", read_perftest);
}

} // namespace perigee::app::transfer_bench
