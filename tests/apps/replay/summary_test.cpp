#include "apps/perigee/replay/summary.hpp"

#include <catch2/catch.hpp>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;

outcome served(std::chrono::nanoseconds ttft,
               std::vector<std::chrono::nanoseconds> gaps) {
  outcome one;
  one.arrived = 1s;
  one.first_token = 1s + ttft;
  one.ended = one.first_token;
  for (auto gap : gaps)
    one.ended += gap;
  one.input_tokens = 100;
  one.cached_tokens = 25;
  one.output_tokens = static_cast<std::uint32_t>(gaps.size()) + 1;
  one.gaps = std::move(gaps);
  one.how = outcome::ending::served;
  return one;
}

TEST_CASE("percentiles are spans that were seen") {
  std::vector<std::chrono::nanoseconds> all;
  for (int i = 100; i >= 1; --i)
    all.push_back(i * 1ms);
  auto of = spread_of(all);
  CHECK(of.count == 100);
  CHECK(of.mean == 50500us);
  CHECK(of.p50 == 50ms);
  CHECK(of.p90 == 90ms);
  CHECK(of.p99 == 99ms);
  CHECK(spread_of({}).count == 0);
  CHECK(spread_of({7ms}).p99 == 7ms);
}

TEST_CASE("time between tokens is the mean of the longest tenth") {
  std::vector<std::chrono::nanoseconds> gaps(20, 1ms);
  gaps[3] = 9ms;
  gaps[17] = 5ms;
  CHECK(tbt_of(gaps) == 7ms);
  CHECK(tbt_of({3ms, 4ms}) == 4ms); // a tenth of two is one
  CHECK_FALSE(tbt_of({}));
}

TEST_CASE("a request is within its objectives if both are kept, to the nanosecond") {
  const objectives kept{100ms, 10ms};
  auto within
    = [&](const outcome& one) { return summarize(std::vector{one}, kept).within; };
  CHECK(within(served(100ms, {10ms})) == 1);
  CHECK(within(served(100ms + 1ns, {10ms})) == 0);
  CHECK(within(served(100ms, {10ms + 1ns})) == 0);
  CHECK(within(served(1ms, {})) == 1); // one token has nothing between
}

TEST_CASE("who was refused or failed is counted, and nothing else of theirs") {
  outcome refused;
  refused.how = outcome::ending::refused;
  refused.why = gateway::api_code::rejected_prefill;
  refused.input_tokens = 1000;
  refused.ended = 9s;
  outcome failed;
  failed.how = outcome::ending::failed;
  failed.why = gateway::api_code::actor_lost;
  auto sum = summarize(std::vector{served(5ms, {1ms}), refused, failed, refused}, {});
  CHECK(sum.requests == 4);
  CHECK(sum.served == 1);
  CHECK(sum.failed == 1);
  CHECK(sum.refused == std::map<std::string, std::size_t>{{"rejected_prefill", 2}});
  CHECK(sum.input_tokens == 100);
  CHECK(sum.cached_tokens == 25);
  CHECK(sum.output_tokens == 2);
  CHECK(sum.ttft.count == 1);
  CHECK(sum.lasted == 9s);
}

} // namespace
} // namespace perigee::app
