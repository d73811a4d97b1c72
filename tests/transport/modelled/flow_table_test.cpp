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
