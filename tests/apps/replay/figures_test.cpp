#include "apps/perigee/replay/figures.hpp"

#include <catch2/catch.hpp>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;

TEST_CASE("decimals have all their digits, and are rounded away from 0") {
  CHECK(to_string(decimal{1'234'005, 3}) == "1234.005");
  CHECK(to_string(decimal{-5, 3}) == "-0.005");
  CHECK(to_string(decimal{12, 0}) == "12");
  CHECK(rounded({1'250, 3}, 1) == decimal{13, 1});
  CHECK(rounded({-1'250, 3}, 1) == decimal{-13, 1});
  CHECK(rounded({5, 0}, 2) == decimal{5, 0});
  CHECK(to_string(milliseconds_of(1500us)) == "1.500000");
  CHECK(percent_of(1, 3) == decimal{333'333, 4});
  CHECK(percent_of(1, 0) == decimal{0, 4});
  CHECK(per_second(5, 2s) == decimal{2'500, 3});
}

TEST_CASE("goodput's limits are read as vLLM's benchmark has them") {
  auto all = read_goodput("ttft:2000,tpot:25.5");
  REQUIRE(all);
  CHECK(all->ttft == 2s);
  CHECK(all->tpot == 25500us);
  CHECK_FALSE(all->e2el);
  for (const char* wrong :
       {"", "ttft", "ttft:", "ttft:0", "ttft:-1", "ttft:1x", "itl:5", "ttft:1,",
        "ttft:1,ttft:2", "ttft:nan", "ttft:1e99"}) {
    INFO(wrong);
    CHECK_FALSE(read_goodput(wrong));
  }
}

TEST_CASE("a request is good if it was served within all limits that are set") {
  outcome one;
  one.first_token = 100ms;
  one.ended = 300ms;
  one.output_tokens = 21;
  one.how = outcome::ending::served;
  CHECK(is_good(one, {}));
  CHECK(is_good(one, {.ttft = 100ms, .tpot = 10ms, .e2el = 300ms}));
  CHECK_FALSE(is_good(one, {.ttft = 99ms, .tpot = {}, .e2el = {}}));
  CHECK_FALSE(is_good(one, {.ttft = {}, .tpot = 9ms, .e2el = {}}));
  CHECK_FALSE(is_good(one, {.ttft = {}, .tpot = {}, .e2el = 299ms}));
  one.how = outcome::ending::failed;
  CHECK_FALSE(is_good(one, {}));
}

/// Of one request, served, on a cluster of one prefill group and two decode instances.
replayed some_run() {
  outcome one;
  one.first_token = 1s;
  one.ended = 2s;
  one.input_tokens = 1000;
  one.cached_tokens = 400;
  one.output_tokens = 11;
  one.tbt = 100ms;
  one.how = outcome::ending::served;
  replayed run;
  run.outcomes = {one};
  run.loads.columns = {{"rejected", "decode_recheck"}, {"prompt_tokens", "computed"},
                       {"prompt_tokens", "dram"},      {"prompt_tokens", "remote"},
                       {"prefill_busy_ns", "p"},       {"decode_busy_ns", "d"},
                       {"decode_busy_ns", "e"}};
  run.loads.rows
    = {{2s, {3, 800, 100, 300, 500'000'000, 1'000'000'000, 2'000'000'000}}};
  return run;
}

TEST_CASE("figures join what clients saw and what the cluster counted") {
  auto all
    = figures_of(some_run(), {{5s, 100ms}, {.ttft = 1s, .tpot = {}, .e2el = {}}});
  auto text = [&](const char* name) { return to_string(find(all, name).value()); };
  CHECK(text("within_percent") == "100.0000");
  CHECK(text("goodput.per_s") == "0.500");
  CHECK(text("rejected.decode_recheck") == "3");
  CHECK(text("tokens.wasted") == "200");
  CHECK(text("tokens.wasted_percent") == "25.0000");
  CHECK(text("hit_percent.all") == "33.3333");
  CHECK(text("hit_percent.remote") == "25.0000");
  CHECK(text("busy_percent.prefill") == "25.0000");
  CHECK(text("busy_percent.decode") == "75.0000");
  CHECK(text("ttft_ms.p99") == "1000.000000");
  CHECK_FALSE(find(figures_of(some_run(), {}), "goodput.per_s"));
}

TEST_CASE("of several runs there are mean, deviation and range of each figure") {
  std::vector<figures> runs{{{"a", {10, 1}}, {"b.x", {4, 0}}},
                            {{"a", {20, 1}}},
                            {{"a", {60, 1}}, {"b.x", {8, 0}}}};
  auto all = repeat(runs);
  REQUIRE(all.size() == 2);
  CHECK(all[0].mean == decimal{30, 1});
  CHECK(all[0].deviation == decimal{26, 1}); // the root of (400 + 100 + 900) / 2
  CHECK(all[0].least == decimal{10, 1});
  CHECK(all[0].most == decimal{60, 1});
  CHECK(all[1].mean == decimal{4, 0}); // it is 0 where it is not
  CHECK(repeat({&runs[0], 1})[0].deviation == decimal{0, 1});
}

} // namespace
} // namespace perigee::app
