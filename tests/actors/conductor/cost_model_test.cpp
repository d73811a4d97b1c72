#include "actors/conductor/cost_model.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace perigee::conductor {
namespace {

using namespace std::chrono_literals;

/// Eight A800, LLaMA3-70B: the fits to figure 14 of the FAST'25 paper.
const cost_model a800x8{.prefill = {98e6, 104'100, 0.923},
                        .decode = {26.2e6, 100'000, 35},
                        .link = {0, 87e9},
                        .disk = {100'000, 6e9},
                        .kv_token_bytes = 327'680};

TEST_CASE("the paper's hardware takes the paper's times") {
  auto seconds
    = [](nanoseconds time) { return static_cast<double>(time.count()) / 1e9; };
  CHECK(seconds(a800x8.prefill.time(8192, 0)) == Approx(1.013).epsilon(0.01));
  CHECK(seconds(a800x8.prefill.time(131'072, 124'518)) == Approx(2.33).epsilon(0.05));
  CHECK(seconds(a800x8.decode.step_time(1, 131'072)) == Approx(0.0308).epsilon(0.01));
  CHECK(seconds(a800x8.link.time(40'000'000'000)) == Approx(0.46).epsilon(0.02));
}

TEST_CASE("a cached prefix saves what it would have cost, but for the fixed part") {
  prefill_cost cost{1000, 10, 2};
  CHECK(cost.time(100, 0) == 1000ns + 1000ns + 20'000ns);
  CHECK(cost.time(100, 60) == 1000ns + 400ns + 12'800ns);
}

TEST_CASE("nothing to do takes no time") {
  CHECK(a800x8.prefill.time(512, 512) == 0ns);
  CHECK(a800x8.prefill.time(512, 1024) == 0ns);
  CHECK(a800x8.decode.step_time(0, 0) == 0ns);
  CHECK(a800x8.link.time(0) == 0ns);
}

TEST_CASE("a link without a bandwidth costs its latency alone") {
  CHECK(transfer_cost{500, 0}.time(1 << 30) == 500ns);
  CHECK(transfer_cost{500, 1e9}.time(1000) == 1500ns);
}

TEST_CASE("a prediction is finite, however large the work") {
  prefill_cost cost{1e9, 1e9, 1e9};
  CHECK(cost.time(std::numeric_limits<std::uint32_t>::max(), 0) == 1'000'000s);
}

TEST_CASE("coefficients that predict nonsense are named") {
  CHECK_FALSE(find_fault(a800x8));
  auto wrong = a800x8;
  wrong.decode.kv_token_ns = -1;
  CHECK_THAT(find_fault(wrong).value(), Catch::StartsWith("decode.kv_token_ns = -1"));
  wrong = a800x8;
  wrong.link.bytes_per_s = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(find_fault(wrong).value(), Catch::StartsWith("link.bytes_per_s"));
  wrong = a800x8;
  wrong.prefill.pair_ns = std::numeric_limits<double>::infinity();
  CHECK_THAT(find_fault(wrong).value(), Catch::StartsWith("prefill.pair_ns"));
}

} // namespace
} // namespace perigee::conductor
