#include "actors/decode_instance/tbt_model.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace perigee::decode {
namespace {

using ns = std::chrono::nanoseconds;
using namespace std::chrono_literals;

ns truth(const step_load& load) {
  return 5ms + load.sequences * 300us + load.kv_tokens * 40ns;
}

double in_ms(ns span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

TEST_CASE("who has seen nothing predicts nothing") {
  CHECK(tbt_model{}.predict({8, 4000}) == 0ns);
}

TEST_CASE("the parts of a step are learned from steps") {
  std::mt19937 dice{3};
  tbt_model model;
  for (int step = 0; step < 200; ++step) {
    step_load load{1 + dice() % 16, 1000 + dice() % 60'000};
    model.observe(load, truth(load));
  }
  model.learn();
  for (step_load load : {step_load{1, 1000}, {16, 60'000}, {32, 100'000}})
    CHECK(in_ms(model.predict(load)) == Approx(in_ms(truth(load))).epsilon(0.01));
}

TEST_CASE("noise doesn't make any part negative") {
  std::mt19937 dice{5};
  tbt_model model;
  for (int step = 0; step < 500; ++step) {
    model.observe({1 + dice() % 3, 100 + dice() % 50},
                  ns{5'000'000 + dice() % 4'000'000});
    model.learn();
    auto one = model.predict({1, 100}), two = model.predict({2, 100}),
         more = model.predict({2, 1000});
    CHECK(one >= 0ns);
    CHECK(two >= one);
    CHECK(more >= two);
  }
}

TEST_CASE("steps that are all alike are predicted as they were") {
  tbt_model model;
  for (int step = 0; step < 100; ++step)
    model.observe({4, 2000}, 7ms);
  model.learn();
  CHECK(in_ms(model.predict({4, 2000})) == Approx(7).epsilon(0.001));
  CHECK(model.predict({8, 4000}) <= 14ms + 1us);
  CHECK(model.recent() == 7ms);
}

TEST_CASE("later steps count more") {
  tbt_model model;
  for (int step = 0; step < 300; ++step)
    model.observe({4, 2000 + static_cast<std::size_t>(step)}, 7ms);
  for (int step = 0; step < 300; ++step)
    model.observe({4, 2000 + static_cast<std::size_t>(step)}, 21ms);
  model.learn();
  CHECK(in_ms(model.predict({4, 2200})) == Approx(21).epsilon(0.02));
  CHECK(in_ms(model.recent()) == Approx(21).epsilon(0.01));
}

TEST_CASE("steps that take no time are no trouble") {
  tbt_model model;
  for (int step = 0; step < 10; ++step)
    model.observe({1, 1}, 0ns);
  model.learn();
  CHECK(model.predict({5, 5}) == 0ns);
}

TEST_CASE("what it says changes when it learns; the first step it learns at once") {
  tbt_model model;
  model.observe({1, 100}, 5ms);
  CHECK(in_ms(model.predict({1, 100})) == Approx(5));
  for (int step = 0; step < 100; ++step)
    model.observe({1, 100}, 9ms);
  CHECK(in_ms(model.predict({1, 100})) == Approx(5));
  model.learn();
  CHECK(in_ms(model.predict({1, 100})) == Approx(9).epsilon(0.1));
}

} // namespace
} // namespace perigee::decode
