#include "transport/modelled/flow_table.hpp"

#include <catch2/catch.hpp>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using ids = std::vector<std::uint64_t>;

constexpr double one_byte_per_ns = 1e9;

TEST_CASE("a flow alone ends after its bytes over its bandwidth") {
  flow_table links{{one_byte_per_ns}};
  CHECK_FALSE(links.next_end());
  links.begin(1, 100, {0}, 50ns);
  CHECK(links.next_end() == 150ns);
  CHECK(links.take_ended(149ns).empty());
  CHECK(links.take_ended(150ns) == ids{1});
  CHECK(links.size() == 0);
}

TEST_CASE("a flow that begins slows down those under way, and its end speeds them up") {
  flow_table links{{one_byte_per_ns}};
  links.begin(1, 100, {0}, 0ns);
  links.begin(2, 20, {0}, 50ns); // each has half from now on
  CHECK(links.next_end() == 90ns);
  CHECK(links.take_ended(90ns) == ids{2});
  CHECK(links.next_end() == 120ns); // 50 alone, 20 of 40 shared, 30 alone
  CHECK(links.take_ended(120ns) == ids{1});
}

TEST_CASE("who looks late finds all ends at their own moments") {
  flow_table links{{one_byte_per_ns}};
  links.begin(1, 100, {0}, 0ns);
  links.begin(2, 20, {0}, 50ns);
  CHECK(links.take_ended(119ns) == ids{2});
  CHECK(links.next_end() == 120ns);
  CHECK(links.take_ended(1h) == ids{1});
}

TEST_CASE("a cancelled flow leaves its share to the others") {
  flow_table links{{one_byte_per_ns}};
  links.begin(1, 100, {0}, 0ns);
  links.begin(2, 100, {0}, 0ns);
  CHECK(links.next_end() == 200ns);
  CHECK(links.cancel(2, 100ns));
  CHECK_FALSE(links.cancel(2, 100ns));
  CHECK(links.next_end() == 150ns);
}

TEST_CASE("of a flow's parts is known when each had gone over, whatever its rate was") {
  flow_table links{{one_byte_per_ns}};
  links.begin(1, 100, {0}, 0ns, 4);
  links.begin(2, 20, {0}, 50ns); // each has half, until 90
  CHECK(links.take_ended(1h) == ids{2, 1});
  CHECK(links.take_parts(1)
        == std::vector<flow_table::nanoseconds>{25ns, 50ns, 95ns, 120ns});
  CHECK(links.take_parts(1).empty()); // asked once
  CHECK(links.take_parts(2).empty()); // it had none
}

TEST_CASE(
  "the parts of no bytes end with their flow, and those of a cancelled one never") {
  flow_table links{{one_byte_per_ns}};
  links.begin(1, 0, {0}, 5ns, 3);
  links.begin(2, 9, {0}, 5ns, 3);
  CHECK(links.take_ended(5ns) == ids{1});
  CHECK(links.cancel(2, 8ns));
  CHECK(links.take_parts(1) == std::vector<flow_table::nanoseconds>(3, 5ns));
  CHECK(links.take_parts(2).empty());
}

TEST_CASE("a flow that stood still goes on with its parts") {
  flow_table links{{one_byte_per_ns}};
  links.begin(1, 30, {0}, 0ns, 3);
  links.set_capacity(0, 0, 15ns);
  links.set_capacity(0, one_byte_per_ns, 100ns);
  CHECK(links.take_ended(1h) == ids{1});
  CHECK(links.take_parts(1)
        == std::vector<flow_table::nanoseconds>{10ns, 105ns, 115ns});
}

TEST_CASE("a fraction of a nanosecond is rounded up, once") {
  flow_table links{{3e9}};
  links.begin(1, 10, {0}, 0ns);
  CHECK(links.next_end() == 4ns);
}

TEST_CASE("no bytes, and no links, take no time") {
  flow_table links{{one_byte_per_ns}};
  links.begin(1, 0, {0}, 5ns);
  links.begin(2, 1'000'000, {}, 5ns);
  CHECK(links.take_ended(5ns) == ids{1, 2});
}

/// Flows as they come to a table, so that fair_share() can be asked about them.
struct several_flows {
  std::vector<double> capacities;
  std::map<std::uint64_t, flow_path> paths{};

  void check(const flow_table& all) const {
    std::vector<flow_path> open;
    for (const auto& [id, path] : paths)
      open.push_back(path);
    auto fair = fair_share(capacities, open);
    auto due = fair.begin();
    for (const auto& [id, path] : paths)
      CHECK(all.rate_of(id) == Approx(*due++).epsilon(1e-9).margin(1e-3));
  }
};

std::uint64_t next_number(std::uint64_t& state) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return state >> 33;
}

TEST_CASE("every flow has its fair share, whoever comes and goes, whatever the core") {
  for (double core : {3.0, 12.0, 30.0, 1000.0}) {
    several_flows seen{{core * 1e9}};
    for (int node = 0; node < 6; ++node)
      for (double nic : {4.0 + node, 6.0})
        seen.capacities.push_back(nic * 1e9); // its sending, then its receiving side
    flow_table all{seen.capacities};
    std::uint64_t state = 7;
    std::chrono::nanoseconds now{};
    for (std::uint64_t id = 0; id < 400; ++id) {
      auto from = static_cast<link_index>(next_number(state) % 6);
      auto to = static_cast<link_index>(next_number(state) % 6);
      seen.paths[id] = {1 + 2 * from, 0, 2 + 2 * to};
      all.begin(id, next_number(state) % 1'000'000, seen.paths[id], now);
      if (id % 7 == 3 && all.cancel(id - 2, now))
        seen.paths.erase(id - 2);
      if (id % 11 == 5) {
        auto link = static_cast<link_index>(next_number(state) % 13);
        seen.capacities[link] = static_cast<double>(next_number(state) % 9) * 1e9;
        all.set_capacity(link, seen.capacities[link], now);
      }
      seen.check(all);
      now += std::chrono::nanoseconds{next_number(state) % 40'000};
      for (auto ended : all.take_ended(now))
        seen.paths.erase(ended);
      seen.check(all);
    }
  }
}

TEST_CASE("over a cut link nothing moves until it is mended") {
  flow_table links{{one_byte_per_ns}};
  links.begin(1, 100, {0}, 0ns);
  links.set_capacity(0, 0, 40ns);
  CHECK(links.take_ended(1h).empty());
  links.set_capacity(0, 2 * one_byte_per_ns, 1h);
  CHECK(links.next_end() == 1h + 30ns);
}

TEST_CASE("no link gives more than it has, however flows come and go") {
  flow_table links{{2e9}};
  std::uint64_t bytes = 0, state = 1;
  std::chrono::nanoseconds now{};
  for (std::uint64_t id = 0; id < 500; ++id) {
    state = state * 6364136223846793005 + 1442695040888963407;
    auto size = (state >> 40) % 10'000;
    bytes += size;
    links.begin(id, size, {0}, now);
    now += std::chrono::nanoseconds{(state >> 20) % 2000};
    links.take_ended(now);
  }
  while (auto next = links.next_end()) {
    now = *next;
    links.take_ended(now);
  }
  CHECK(static_cast<double>(now.count()) >= static_cast<double>(bytes) / 2);
}

} // namespace
} // namespace perigee::transport
