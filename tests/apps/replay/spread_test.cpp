#include "apps/perigee/replay/spread.hpp"

#include "apps/perigee/replay/longest_tenth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <random>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

std::vector<nanoseconds> some_gaps(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 chance{seed};
  std::vector<nanoseconds> all;
  for (std::size_t i = 0; i < count; ++i)
    all.emplace_back(static_cast<std::int64_t>(chance() >> (24 + chance() % 40)));
  return all;
}

TEST_CASE("percentiles are spans that were seen") {
  std::vector<nanoseconds> all;
  for (int i = 100; i >= 1; --i)
    all.push_back(i * 1ms);
  CHECK(spread_of(all) == spread{100, 50500us, 50ms, 90ms, 99ms, 100ms});
  CHECK(spread_of({}) == spread{});
  CHECK(spread_of({7ms}).p99 == 7ms);
}

TEST_CASE("a histogram's percentiles are within 0.8 % or 1,024 ns of the exact ones") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    auto all = some_gaps(1000, seed);
    span_histogram counted;
    for (auto one : all)
      counted.add(one, 1);
    auto exact = spread_of(all);
    auto sum = counted.sum();
    CHECK(sum.count == exact.count);
    CHECK(sum.mean == exact.mean);
    CHECK(sum.most == exact.most);
    for (auto percentile : {&spread::p50, &spread::p90, &spread::p99}) {
      CHECK(sum.*percentile >= exact.*percentile);
      CHECK(sum.*percentile
            <= std::max(exact.*percentile + 1024ns, exact.*percentile * 1008 / 1000));
    }
  }
}

TEST_CASE("a histogram of nothing is nothing, and none is too long for it") {
  span_histogram counted;
  CHECK(counted.sum() == spread{});
  counted.add(0ns, 3);
  counted.add(24h * 365, 1);
  CHECK(counted.sum().p50 <= 1024ns);
  CHECK(counted.sum().most == 24h * 365);
}

TEST_CASE("time between tokens is the mean of the longest tenth") {
  longest_tenth of{20};
  of.add(1ms, 3);
  of.add(9ms, 1);
  of.add(1ms, 13);
  of.add(5ms, 1);
  of.add(1ms, 2);
  CHECK(of.mean() == 7ms);
  CHECK_FALSE(longest_tenth{5}.mean());
}

TEST_CASE("a tenth is rounded up, of the gaps that there were") {
  longest_tenth of{100};
  of.add(3ms, 1);
  of.add(4ms, 1);
  CHECK(of.mean() == 4ms); // a tenth of two is one
}

TEST_CASE("the longest tenth is exact, though not all gaps are kept") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    auto all = some_gaps(1 + seed * 7, seed);
    longest_tenth of{all.size() + seed}; // it may end sooner than it could
    for (std::size_t i = 0; i < all.size(); ++i)
      of.add(all[i], 1);
    std::sort(all.begin(), all.end(), std::greater{});
    all.resize((all.size() + 9) / 10);
    nanoseconds sum{};
    for (auto one : all)
      sum += one;
    CHECK(of.mean() == sum / static_cast<std::int64_t>(all.size()));
  }
}

} // namespace
} // namespace perigee::app
