#include "engine/sampling/score.hpp"

#include "engine/sampling/chance.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace perigee::engine {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> some_logits(std::size_t count, std::uint64_t seed) {
  std::vector<float> logits(count);
  for (std::size_t i = 0; i < count; ++i)
    logits[i] = static_cast<float>(chance(seed, i) * 20 - 10);
  return logits;
}

TEST_CASE("a token's log-probability is that of softmax") {
  auto logits = some_logits(1003, 1);
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(static_cast<double>(logit));
  for (token_id token : {0u, 500u, 1002u})
    CHECK(score(logits, token, 0).logprob
          == Approx(logits[token] - std::log(sum)).margin(1e-5));
}

TEST_CASE("the likeliest tokens come best first, ties to the lowest id") {
  auto count = GENERATE(std::size_t{1}, std::size_t{5}, std::size_t{300});
  auto logits = some_logits(5000, 2);
  logits[17] = logits[4000] = logits[1234] = 10.5f;
  std::vector<token_id> sorted(logits.size());
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](auto a, auto b) { return logits[a] > logits[b]; });
  std::vector<token_score> kept;
  find_likeliest(logits, count, kept);
  REQUIRE(kept.size() == count);
  for (std::size_t i = 0; i < count; ++i)
    CHECK(kept[i].token == sorted[i]);
}

TEST_CASE("tokens that cannot come are not among the likeliest") {
  std::vector<float> logits{1, -infinite, no_number, 2};
  auto scored = score(logits, 3, 4);
  REQUIRE(scored.top.size() == 2);
  CHECK(scored.top[0].token == 3);
  CHECK(scored.top[1].token == 0);
  CHECK(scored.top[0].logprob == Approx(-std::log1p(std::exp(-1.0))));
  CHECK(score(logits, 1, 0).logprob == -infinite);
  CHECK(score(logits, 2, 0).logprob == -infinite);
}

TEST_CASE("an infinite logit takes all the probability") {
  std::vector<float> logits{1, infinite, 3};
  CHECK(score(logits, 1, 0).logprob == 0);
  CHECK(score(logits, 0, 0).logprob < -1e30f);
}

TEST_CASE("where no logit is a number nothing is likely") {
  std::vector<float> logits(5, no_number);
  auto scored = score(logits, 2, 3);
  CHECK(scored.top.empty());
  CHECK(scored.logprob == -infinite);
}

} // namespace
} // namespace perigee::engine
