#include "apps/perigee/bench_transfer.hpp"

#include "apps/perigee/transfer_bench/limits.hpp"
#include "apps/perigee/transfer_bench/pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

using namespace transfer_bench;

struct wishes {
  std::vector<std::string> transports{"shm", "tcp"};
  std::size_t runs = 5;
  unsigned time_ms = 100;
  device_names devices{};
};

constexpr std::array<const char*, 3> kind_names{"shm", "tcp", "rdma"};

constexpr std::array<std::size_t, 5> sizes{std::size_t{4} << 10, std::size_t{64} << 10,
                                           std::size_t{1} << 20, std::size_t{16} << 20,
                                           std::size_t{64} << 20};
constexpr std::size_t depth_max = 8;
constexpr std::size_t under_way_bytes = std::size_t{128} << 20;
constexpr std::size_t threads_max = 2;

/// One line of the table; one entry a run.
struct row {
  load what;
  std::vector<double> latency_us{};
  std::vector<double> rate{};
  std::vector<double> limit{};
};

/// 0 of none.
double median(std::vector<double> of) {
  if (of.empty())
    return 0;
  auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::ranges::nth_element(of, middle);
  return *middle;
}

std::vector<row> all_rows() {
  std::vector<row> made;
  for (auto bytes : sizes) {
    auto depth = std::min(depth_max, under_way_bytes / bytes);
    for (auto direction : {way::write, way::read})
      for (std::size_t threads = 1; threads <= threads_max; ++threads)
        made.push_back({{direction, bytes, threads, depth}});
  }
  return made;
}

std::string size_text(std::size_t bytes) {
  return bytes < (1u << 20) ? fmt::format("{} KiB", bytes >> 10)
                            : fmt::format("{} MiB", bytes >> 20);
}

void print(const std::string& name, const std::vector<row>& all) {
  constexpr double giga = 1e9;
  fmt::print("{:<6}{:<7}{:>9}{:>9}{:>13}{:>9}{:>12}{:>7}\n", "", "", "bytes", "threads",
             "latency us", "GB/s", "limit GB/s", "ratio");
  for (const auto& one : all) {
    auto rate = median(one.rate), limit = median(one.limit);
    fmt::print("{:<6}{:<7}{:>9}{:>9}{:>13.1f}{:>9.2f}", name,
               one.what.direction == way::write ? "write" : "read",
               size_text(one.what.bytes), one.what.threads, median(one.latency_us),
               rate / giga);
    if (limit > 0)
      fmt::print("{:>12.2f}{:>7.2f}\n", limit / giga, rate / limit);
    else
      fmt::print("{:>12}{:>7}\n", "-", "-");
  }
  std::fflush(stdout);
}

result<void, std::string> measure(pair& of, row& one, std::chrono::nanoseconds time) {
  auto alone = one.what;
  alone.depth = 1;
  auto slow = of.run(alone, time / 2);
  if (!slow)
    return failure(slow.error());
  auto fast = of.run(one.what, time);
  if (!fast)
    return failure(fast.error());
  one.latency_us.push_back(
    std::chrono::duration<double, std::micro>{slow->median}.count());
  one.rate.push_back(fast->bytes_per_s);
  return {};
}

/// What limits the lines of one transport, measured between them.
class limits {
public:
  limits(kind what, const wishes& how) : what_(what), how_(how) {
    if (what == kind::shm)
      copies_.emplace();
  }

  void begin_run() {
    for (std::size_t threads = 1; threads <= threads_max && what_ == kind::tcp;
         ++threads)
      streams_[threads] = iperf3_limit(threads);
  }

  std::optional<double> of(const row& one, std::chrono::nanoseconds time) {
    switch (what_) {
      case kind::shm: return copies_->run(one.what.bytes, one.what.threads, time);
      case kind::tcp: return streams_[one.what.threads];
      case kind::rdma:
        return perftest_limit(one.what, how_.devices, one.rate.back(), time);
    }
    return std::nullopt;
  }

private:
  kind what_;
  const wishes& how_;
  std::optional<copy_limit> copies_;
  std::array<std::optional<double>, threads_max + 1> streams_;
};

/// All lines once in every run, each beside its limit.
result<std::vector<row>, std::string> measure_all(kind what, const wishes& how) {
  auto both = pair::make(what, how.devices);
  if (!both)
    return failure(both.error());
  limits most{what, how};
  auto rows = all_rows();
  std::chrono::milliseconds time{how.time_ms};
  for (std::size_t run = 0; run < how.runs; ++run) {
    most.begin_run();
    for (auto& one : rows) {
      if (auto done = measure(**both, one, time); !done)
        return failure(done.error());
      if (auto limit = most.of(one, time))
        one.limit.push_back(*limit);
    }
  }
  return rows;
}

exit_code run(const wishes& how) {
  fmt::print("Median of {} runs, which take turns. Latency: one move at a time. GB/s: "
             "{} under way for each thread that submits, or {} MiB.\nLimit: of shm, "
             "memcpy in as many threads; of tcp, iperf3 over the loopback in as many "
             "streams; of rdma, ib_write_bw and ib_read_bw with as many queue pairs.\n",
             how.runs, depth_max, under_way_bytes >> 20);
  for (const auto& name : how.transports) {
    auto number = std::ranges::find(kind_names, name) - kind_names.begin();
    auto rows = measure_all(static_cast<kind>(number), how);
    if (!rows) {
      std::fprintf(stderr, "perigee bench transfer: %s: %s\n", name.c_str(),
                   rows.error().c_str());
      return exit_code::failed;
    }
    print(name, *rows);
  }
  return exit_code::good;
}

} // namespace

void add_bench_transfer(CLI::App& to, session& all) {
  auto how = std::make_shared<wishes>();
  auto* bench = to.add_subcommand(
    "transfer", "How fast transports move blocks between processes here, each beside "
                "what limits it");
  bench->add_option("--transport", how->transports, "Which; several are allowed")
    ->check(CLI::IsMember({"shm", "tcp", "rdma"}))
    ->capture_default_str();
  bench->add_option("--runs", how->runs, "So many runs; the median is shown")
    ->check(CLI::Range(std::size_t{1}, std::size_t{100}))
    ->capture_default_str();
  bench->add_option("--time-ms", how->time_ms, "For every line, in every run")
    ->check(CLI::Range(1u, 10'000u))
    ->capture_default_str();
  bench->add_option("--from-device", how->devices[0],
                    "The RDMA device of the side that asks; else all that there are");
  bench->add_option("--to-device", how->devices[1], "And that of the other");
  bench->callback([how, &all] { all.left = run(*how); });
}

} // namespace perigee::app
