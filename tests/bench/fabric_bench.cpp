/// \file
/// What a modelled network costs: movements between pools, at the size of a cluster. Run
/// by hand: `fabric_bench [nodes a pool] [movements] [seconds of virtual time]`.
#include "transport/modelled/flow_table.hpp"
#include "transport/modelled/network.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

namespace perigee::transport {
namespace {

constexpr double GiB = 1 << 30;

struct course {
  std::uint32_t pool;
  std::uint64_t movements;
  double seconds;
};

/// Movements of 0.1 to 2 GiB from one pool to the other, evenly at random.
void measure(const char* what, const course& how, double core_bytes_per_s) {
  std::mt19937_64 dice{1};
  network between{
    {.ports = std::vector<network_plan::port>(2 * how.pool, {81 * GiB, {}}),
     .core_bytes_per_s = core_bytes_per_s}};
  flow_table flows{between.capacities()};
  std::chrono::nanoseconds now{};
  const auto gap = static_cast<std::uint64_t>(how.seconds * 2e9
                                              / static_cast<double>(how.movements));
  std::size_t most = 0;
  auto begin = std::clock();
  for (std::uint64_t i = 0; i < how.movements; ++i) {
    now += std::chrono::nanoseconds{dice() % gap};
    while (auto due = flows.next_end()) {
      if (*due > now)
        break;
      flows.take_ended(*due);
    }
    auto from = static_cast<std::uint32_t>(dice() % how.pool);
    auto to = static_cast<std::uint32_t>(how.pool + dice() % how.pool);
    auto bytes = static_cast<std::uint64_t>(GiB / 10) * (1 + dice() % 20);
    flows.begin(i, bytes, between.between(from, to).links, now);
    most = std::max(most, flows.size());
  }
  auto spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%-12s %8.2f s, %6.2f us a movement; at most %zu at once\n", what, spent,
              spent * 1e6 / static_cast<double>(how.movements), most);
}

} // namespace
} // namespace perigee::transport

int main(int count, char** arguments) {
  using namespace perigee::transport;
  course how{100, 1'000'000, 3600};
  if (count > 1)
    how.pool = static_cast<std::uint32_t>(std::strtoul(arguments[1], nullptr, 10));
  if (count > 2)
    how.movements = std::strtoull(arguments[2], nullptr, 10);
  if (count > 3)
    how.seconds = std::strtod(arguments[3], nullptr);
  measure("wide core", how, 100 * 81 * GiB);
  measure("narrow core", how, 400 * GiB);
}
