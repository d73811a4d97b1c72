#include "apps/perigee/trace/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace perigee::app::trace {
namespace {

struct traffic {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// From whom to whom, by role, and what.
using lane = std::tuple<std::string, std::string, std::string>;

std::string role_of(const history& all, std::uint32_t who) {
  const auto& one = all.actors[who];
  return one.role.empty() ? "?" : one.role;
}

std::string name_of(const message& one) {
  return one.type ? one.type->name : "(unknown)";
}

std::vector<std::pair<lane, traffic>> lanes_of(const history& all) {
  std::map<lane, traffic> by_lane;
  for (std::size_t i = 1; i < all.messages.size(); ++i) {
    const auto& one = all.messages[i];
    auto whom = one.taker != 0 ? one.taker : one.to;
    auto& sum = by_lane[{role_of(all, one.by), role_of(all, whom), name_of(one)}];
    ++sum.count;
    sum.bytes += one.bytes;
  }
  std::vector<std::pair<lane, traffic>> sorted{by_lane.begin(), by_lane.end()};
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const auto& one) { return one.second.bytes; });
  return sorted;
}

struct flights {
  std::vector<std::int64_t> ns;
  std::uint64_t never = 0;
};

double ms_at(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  auto at = (sorted.size() * percent + 99) / 100;
  return static_cast<double>(sorted[at > 0 ? at - 1 : 0]) * 1e-6;
}

void print_sums(const history& all, std::FILE* to) {
  std::uint64_t bytes = 0, taken = 0;
  for (const auto& one : all.messages) {
    bytes += one.bytes;
    taken += one.taken_in != 0;
  }
  auto messages = all.messages.size() - 1;
  fmt::print(
    to,
    "{} processes, {} actors, {} requests; {} messages of {} bytes, {} of them "
    "taken; {} errors and ends, {} times nobody was there\n",
    all.builds.size(), all.actors.size() - 1, all.requests.size(), messages, bytes,
    taken, all.incidents.size(), all.absences);
  fmt::print(to, "on disk: {} bytes", all.bytes);
  if (messages > 0)
    fmt::print(to, ", {} a message", all.bytes / messages);
  if (!all.requests.empty())
    fmt::print(to, ", {} a request", all.bytes / all.requests.size());
  fmt::print(to, "\n");
}

void print_lanes(const history& all, std::FILE* to) {
  fmt::print(to, "\n{:<10}    {:<10} {:<14} {:>10} {:>14} {:>10}\n", "from", "to",
             "message", "count", "bytes", "mean");
  for (const auto& [who, sum] : lanes_of(all))
    fmt::print(to, "{:<10} -> {:<10} {:<14} {:>10} {:>14} {:>10}\n", std::get<0>(who),
               std::get<1>(who), std::get<2>(who), sum.count, sum.bytes,
               sum.bytes / sum.count);
}

void print_flights(const history& all, std::FILE* to) {
  std::map<std::string, flights> by_type;
  for (std::size_t i = 1; i < all.messages.size(); ++i) {
    const auto& one = all.messages[i];
    auto& sum = by_type[name_of(one)];
    if (one.taken_in == 0)
      ++sum.never;
    else if (one.has_words)
      sum.ns.push_back(one.on_the_way());
  }
  fmt::print(to, "\n{:<14} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12}\n",
             "on the way, ms", "count", "mean", "P50", "P99", "longest", "never taken");
  for (auto& [type, sum] : by_type) {
    std::ranges::sort(sum.ns);
    if (sum.ns.empty()) {
      fmt::print(to, "{:<14} {:>10} {:>65}\n", type, 0, sum.never);
      continue;
    }
    auto total = std::accumulate(sum.ns.begin(), sum.ns.end(), 0.0);
    fmt::print(to, "{:<14} {:>10} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>12}\n",
               type, sum.ns.size(), total * 1e-6 / static_cast<double>(sum.ns.size()),
               ms_at(sum.ns, 50), ms_at(sum.ns, 99), ms_at(sum.ns, 100), sum.never);
  }
}

} // namespace

void print_stats(const history& all, std::FILE* to) {
  print_sums(all, to);
  print_lanes(all, to);
  print_flights(all, to);
}

} // namespace perigee::app::trace
