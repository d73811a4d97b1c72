#include "tests/engine/golden/golden.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace perigee::engine::golden {

namespace {

bool falls(const scored_tokens& scored) {
  return std::ranges::is_sorted(scored, std::ranges::greater{}, &scored_token::logprob);
}

double total_probability(const scored_tokens& scored) {
  double sum = 0;
  for (const scored_token& one : scored)
    sum += std::exp(double{one.logprob});
  return sum;
}

} // namespace

TEST_CASE("golden values are whole: every position of every prompt", "[golden]") {
  for (const char* path : {"smollm2.golden", "gemma3.golden"}) {
    const model read = read_model(path);
    INFO(path);
    CHECK(std::string{path}.starts_with(read.name));
    REQUIRE(read.prompts.size() >= 8);
    for (const prompt& one : read.prompts) {
      INFO(one.name);
      REQUIRE(one.likeliest.size() == one.tokens.size());
      REQUIRE(one.greedy.size() == 200);
      REQUIRE(one.greedy_likeliest.size() == 200);
      CHECK(one.greedy_likeliest[0][0].token == one.likeliest.back()[0].token);
      for (const scored_tokens& scored : one.likeliest) {
        CHECK(scored.size() == 64);
        CHECK(falls(scored));
        CHECK(total_probability(scored) < 1.0001);
      }
    }
  }
}

TEST_CASE("the tiny models' golden values are whole: every token of every position",
          "[golden]") {
  for (const char* name : {"f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0",
                           "q4_k", "q5_k", "q6_k", "untied", "gemma3"}) {
    const model read = read_model("tiny/" + std::string{name} + ".golden");
    INFO(name);
    CHECK(read.name == name);
    REQUIRE(read.prompts.size() == 3);
    for (const prompt& one : read.prompts) {
      CHECK(one.greedy.size() == 24);
      for (const scored_tokens& scored : one.likeliest) {
        CHECK(scored.size() == 288);
        CHECK(falls(scored));
        CHECK(total_probability(scored) == Approx(1.0));
      }
    }
  }
}

TEST_CASE("there are blocks of every weight type", "[golden]") {
  const std::vector<blocks> read = read_blocks();
  REQUIRE(read.size() == 11);
  for (const blocks& one : read) {
    INFO(one.type);
    CHECK(one.values.size() == 1024);
    CHECK(std::ranges::all_of(one.values,
                              [](float value) { return std::isfinite(value); }));
  }
}

TEST_CASE("a golden file that isn't there is named", "[golden]") {
  CHECK_THROWS_AS(read_model("none.golden"), std::runtime_error);
  CHECK_THROWS_WITH(read_model("none.golden"), "none.golden: can't be read");
}

} // namespace perigee::engine::golden
