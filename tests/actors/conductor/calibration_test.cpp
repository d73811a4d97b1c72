#include "actors/conductor/calibration.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace perigee::conductor {
namespace {

using namespace std::chrono_literals;

constexpr prefill_cost true_prefill{2e6, 1.1e6, 40};
constexpr decode_cost true_decode{5e6, 0.7e6, 600};

/// Takes what a model says, give or take `noise`, and counts what it was asked.
struct fake_engine {
  measured_engine engine() {
    return {[this](const prefill_point& point) {
              ++prefills;
              return noisy(true_prefill.time(point.tokens, point.cached));
            },
            [this](const decode_point& point) {
              return noisy(true_decode.step_time(point.sequences, point.kv_tokens));
            }};
  }

  result<nanoseconds, std::string> noisy(nanoseconds exact) {
    std::uint64_t spread = 2 * noise + 1;
    exact = exact * static_cast<std::int64_t>(100 - noise + random() % spread) / 100;
    total += exact;
    return exact;
  }

  std::uint64_t noise = 0; // percent
  std::mt19937_64 random{5};
  int prefills = 0;
  nanoseconds total{};
};

constexpr engine_limits laptop{8192, 64, 65'536};

SCENARIO("an engine that is a model gives that model") {
  GIVEN("an engine without noise") {
    fake_engine fake;
    auto plan_for = GENERATE(quick_calibration, thorough_calibration);
    WHEN("it is measured") {
      auto done = calibrate(fake.engine(), plan_for(laptop)).value();
      THEN("every coefficient is found, and no error is left") {
        CHECK(done.prefill.fixed_ns == Approx(true_prefill.fixed_ns).epsilon(1e-3));
        CHECK(done.prefill.token_ns == Approx(true_prefill.token_ns).epsilon(1e-3));
        CHECK(done.prefill.pair_ns == Approx(true_prefill.pair_ns).epsilon(1e-2));
        CHECK(done.decode.fixed_ns == Approx(true_decode.fixed_ns).epsilon(1e-3));
        CHECK(done.decode.sequence_ns == Approx(true_decode.sequence_ns).epsilon(1e-3));
        CHECK(done.decode.kv_token_ns == Approx(true_decode.kv_token_ns).epsilon(1e-2));
        CHECK(done.error_max() < 1e-3);
      }
    }
  }
  GIVEN("an engine with ten percent of noise") {
    fake_engine fake;
    fake.noise = 10;
    auto done = calibrate(fake.engine(), thorough_calibration(laptop)).value();
    THEN("predictions are within a few percent, and the residuals tell the noise") {
      auto exact = static_cast<double>(true_prefill.time(4000, 1000).count());
      CHECK(static_cast<double>(done.prefill.time(4000, 1000).count())
            == Approx(exact).epsilon(0.1));
      auto step = static_cast<double>(true_decode.step_time(20, 9000).count());
      CHECK(static_cast<double>(done.decode.step_time(20, 9000).count())
            == Approx(step).epsilon(0.1));
      CHECK(done.error_max() > 0.01);
      CHECK(done.error_max() < 0.3);
    }
  }
}

SCENARIO("a calibration costs no more than it was given") {
  GIVEN("an engine that takes more than a millisecond for a token") {
    fake_engine fake;
    THEN("a quick one is over in a second or two, of which it says every part") {
      std::vector<std::string> told;
      auto done = calibrate(fake.engine(), quick_calibration(laptop),
                            [&](const auto& what, auto) { told.push_back(what); });
      REQUIRE(done);
      CHECK(fake.total < 2s);
      CHECK(told.size() == done->residuals.size());
      CHECK(told.front() == "prefill of 24");
    }
    THEN("a thorough one stops at its budget") {
      auto plan = thorough_calibration(laptop);
      auto points = plan.prefills.size();
      plan.budget = 10s;
      REQUIRE(calibrate(fake.engine(), plan));
      CHECK(fake.total < 15s);
      CHECK(fake.prefills < static_cast<int>(plan.repeats * points));
    }
  }
}

SCENARIO("every engine can be calibrated, however small") {
  GIVEN("limits from the least to the largest") {
    auto limits = GENERATE(engine_limits{16, 1, 16}, engine_limits{17, 2, 32},
                           engine_limits{512, 4, 2048}, laptop,
                           engine_limits{1 << 20, 4096, 1 << 24});
    auto plan_for = GENERATE(quick_calibration, thorough_calibration);
    WHEN("a calibration is planned") {
      auto plan = plan_for(limits);
      THEN("no point exceeds them, none is there twice, and they are enough") {
        for (std::size_t i = 0; i < plan.prefills.size(); ++i) {
          CHECK(plan.prefills[i].tokens <= limits.prefill_tokens_max);
          CHECK(plan.prefills[i].cached < plan.prefills[i].tokens);
          for (std::size_t j = 0; j < i; ++j)
            CHECK_FALSE(plan.prefills[i] == plan.prefills[j]);
        }
        for (const auto& step : plan.steps) {
          CHECK(step.sequences <= limits.sequences_max);
          CHECK(step.kv_tokens <= limits.kv_tokens_max);
          CHECK(step.kv_tokens >= step.sequences);
        }
        fake_engine fake;
        auto done = calibrate(fake.engine(), plan);
        REQUIRE(done);
        CHECK(done->error_max() < 0.01);
      }
    }
  }
}

SCENARIO("a calibration that fails says why") {
  GIVEN("an engine that has no room") {
    measured_engine full{
      [](const prefill_point&) -> result<nanoseconds, std::string> { return 1ms; },
      [](const decode_point&) -> result<nanoseconds, std::string> {
        return failure<std::string>("no room");
      }};
    THEN("the point and the reason are named") {
      auto done = calibrate(full, quick_calibration(laptop));
      REQUIRE_FALSE(done);
      CHECK(done.error() == "decode step of 1 with 16 of KV: no room");
    }
  }
  GIVEN("somebody's measurements") {
    std::vector<measured<prefill_point>> prefills{
      {{100, 0}, 1ms}, {{200, 0}, 2ms}, {{400, 0}, 5ms}};
    std::vector<measured<decode_point>> steps{{{1, 100}, 1ms}, {{2, 100}, 2ms}};
    THEN("too few are refused") {
      CHECK_THAT(fit(prefills, steps).error(),
                 Catch::Contains("decode step: 2, expected at least 3"));
    }
    THEN("one that took no time is refused") {
      steps.push_back({{4, 100}, 0ms});
      CHECK(fit(prefills, steps).error()
            == "decode step of 4 with 100 of KV took no time");
    }
  }
}

// Figure 14 of the FAST'25 paper, as read by the reference: LLaMA3-70B on eight A800.
TEST_CASE("the paper's own measurements are fitted within a few percent") {
  std::vector<measured<prefill_point>> prefills;
  for (std::uint32_t n : {8192u, 16'384u, 32'768u, 65'536u, 131'072u}) {
    double x = n, seconds = 0.0447 + 1.105e-4 * x + 7.586e-10 * x * x;
    prefills.push_back({{n, 0}, nanoseconds{static_cast<std::int64_t>(seconds * 1e9)}});
  }
  std::vector<measured<decode_point>> steps{{{1, 8192}, 26'500us},
                                            {{1, 16'384}, 26'800us},
                                            {{1, 32'768}, 27'500us},
                                            {{1, 65'536}, 28'600us},
                                            {{1, 131'072}, 30'800us}};
  auto done = fit(prefills, steps).value();
  CHECK(done.error_max() < 0.01);
  CHECK(done.decode.kv_token_ns == Approx(35).epsilon(0.05));
}

} // namespace
} // namespace perigee::conductor
