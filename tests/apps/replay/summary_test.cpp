#include "apps/perigee/replay/summary.hpp"

#include <catch2/catch.hpp>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;

outcome served(std::chrono::nanoseconds ttft, std::chrono::nanoseconds each,
               std::uint32_t tokens) {
  outcome one;
  one.arrived = 1s;
  one.first_token = 1s + ttft;
  one.ended = one.first_token + each * (tokens - 1);
  one.input_tokens = 100;
  one.cached_tokens = 25;
  one.output_tokens = tokens;
  if (tokens > 1)
    one.tbt = each;
  one.how = outcome::ending::served;
  return one;
}

outcome not_served(outcome::ending how, gateway::api_code why) {
  outcome one;
  one.how = how;
  one.why = why;
  one.input_tokens = 1000;
  one.ended = 9s;
  return one;
}

TEST_CASE("a request is within its objectives if both are kept, to the nanosecond") {
  const yardstick by{{100ms, 10ms}, {}};
  auto within
    = [&](const outcome& one) { return summarize(std::vector{one}, by).within; };
  CHECK(within(served(100ms, 10ms, 2)) == 1);
  CHECK(within(served(100ms + 1ns, 10ms, 2)) == 0);
  CHECK(within(served(100ms, 10ms + 1ns, 2)) == 0);
  CHECK(within(served(1ms, 99ms, 1)) == 1); // one token has nothing between
}

TEST_CASE("who was refused or failed is counted by cause, and nothing else of theirs") {
  using ending = outcome::ending;
  auto refused = not_served(ending::refused, gateway::api_code::rejected_prefill);
  auto failed = not_served(ending::failed, gateway::api_code::actor_lost);
  auto sum = summarize(std::vector{served(5ms, 1ms, 2), refused, failed, refused}, {});
  using counts = std::map<std::string, std::uint64_t>;
  CHECK(sum.requests == 4);
  CHECK(sum.served == 1);
  CHECK(sum.refused == 2);
  CHECK(sum.refused_by == counts{{"rejected_prefill", 2}});
  CHECK(sum.failed == 1);
  CHECK(sum.failed_by == counts{{"actor_lost", 1}});
  CHECK(sum.input_tokens == 100);
  CHECK(sum.cached_tokens == 25);
  CHECK(sum.output_tokens == 2);
  CHECK(sum.ttft.count == 1);
  CHECK(sum.lasted == 9s);
}

TEST_CASE("what was computed for nobody who was served is wasted") {
  auto sum = summarize(std::vector{served(5ms, 1ms, 2)}, {});
  CHECK(sum.wasted_tokens(75) == 0);
  CHECK(sum.wasted_tokens(1075) == 1000);
}

TEST_CASE("time per token leaves the first one out, as vLLM's benchmark does") {
  auto sum = summarize(std::vector{served(5ms, 2ms, 4), served(5ms, 2ms, 1)}, {});
  CHECK(sum.tpot.count == 1);
  CHECK(sum.tpot.mean == 2ms);
  CHECK(sum.e2el.most == 11ms);
}

} // namespace
} // namespace perigee::app
