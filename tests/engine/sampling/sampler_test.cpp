#include "engine/sampling/sampler.hpp"

#include "engine/sampling/chance.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

namespace perigee::engine {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

using logit_row = std::vector<float>;

sampling_params greedy() {
  sampling_params how;
  how.temperature = 0;
  return how;
}

/// How often each token came in `draws` draws at as many positions.
std::map<token_id, int> drawn(const sampling_params& how, const logit_row& logits,
                              int draws) {
  std::map<token_id, int> times;
  sampler one{how};
  for (int i = 0; i < draws; ++i)
    ++times[one.draw(logits, static_cast<std::uint32_t>(i)).token];
  return times;
}

std::set<token_id> reachable(const sampling_params& how, const logit_row& logits) {
  std::set<token_id> tokens;
  for (auto [token, times] : drawn(how, logits, 3000))
    tokens.insert(token);
  return tokens;
}

logit_row logits_of(const std::vector<double>& probabilities) {
  logit_row logits;
  for (double p : probabilities)
    logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

SCENARIO("greedy draws take the highest logit") {
  GIVEN("logits with two equal highest") {
    logit_row logits(100, 0.0f);
    logits[70] = logits[30] = 5;
    THEN("the lowest id is drawn, at any position and with any seed") {
      for (std::uint32_t position : {0u, 9u, 1000000u}) {
        auto how = greedy();
        how.seed = position + 3;
        CHECK(sampler{how}.draw(logits, position).token == 30);
      }
    }
  }
  GIVEN("a temperature too small to divide by") {
    auto how = greedy();
    how.temperature = 1e-9;
    THEN("it is greedy") {
      CHECK(sampler{how}.draw(logit_row{1, 1.0001f, 1}, 0).token == 1);
    }
  }
}

SCENARIO("tokens are drawn by their probability") {
  GIVEN("four tokens") {
    std::vector<double> p{0.5, 0.1, 0.3, 0.1};
    auto logits = logits_of(p);
    WHEN("many are drawn") {
      auto times = drawn({}, logits, 20000);
      THEN("each comes as often as it should") {
        for (token_id token = 0; token < 4; ++token)
          CHECK(times[token] / 20000.0 == Approx(p[token]).margin(0.015));
      }
    }
    WHEN("the temperature is 2") {
      sampling_params how;
      how.temperature = 2;
      auto times = drawn(how, logits, 20000);
      THEN("probabilities are as their square roots") {
        double whole = std::sqrt(0.5) + 2 * std::sqrt(0.1) + std::sqrt(0.3);
        CHECK(times[0] / 20000.0 == Approx(std::sqrt(0.5) / whole).margin(0.015));
      }
    }
  }
  GIVEN("a vocabulary of several pieces") {
    logit_row logits(3000, 0.0f);
    auto times = drawn({}, logits, 20000);
    THEN("all parts of it come alike") {
      int first_third = 0;
      for (auto [token, count] : times)
        first_third += token < 1000 ? count : 0;
      CHECK(first_third / 20000.0 == Approx(1 / 3.0).margin(0.015));
      CHECK(times.size() > 2900);
    }
  }
}

SCENARIO("a draw depends on seed and position alone") {
  logit_row logits(1000);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(chance(5, i) * 3);
  sampling_params how;
  how.seed = 11;
  sampler late{how};
  late.saw_prompt(4);
  late.saw_answer(9);
  CHECK(late.draw(logits, 77).token == sampler{how}.draw(logits, 77).token);
  int same_by_seed = 0;
  for (std::uint32_t position = 0; position < 100; ++position) {
    auto other = how;
    other.seed = 12;
    same_by_seed += sampler{how}.draw(logits, position).token
                    == sampler{other}.draw(logits, position).token;
  }
  CHECK(same_by_seed < 10);
}

SCENARIO("top_k, top_p and min_p narrow the choice") {
  auto logits = logits_of({0.05, 0.4, 0.25, 0.2, 0.1});
  sampling_params how;
  GIVEN("top_k") {
    how.top_k = 2;
    CHECK(reachable(how, logits) == std::set<token_id>{1, 2});
    how.top_k = 1;
    CHECK(reachable(how, logits) == std::set<token_id>{1});
    how.top_k = 100;
    CHECK(reachable(how, logits).size() == 5);
  }
  GIVEN("top_p") {
    how.top_p = 0.66; // 0.4 + 0.25 is less: a third is taken
    CHECK(reachable(how, logits) == std::set<token_id>{1, 2, 3});
    how.top_p = 0.3;
    CHECK(reachable(how, logits) == std::set<token_id>{1});
    how.top_p = 1e-9;
    CHECK(reachable(how, logits) == std::set<token_id>{1});
  }
  GIVEN("min_p") {
    how.min_p = 0.45; // of 0.4: 0.18
    CHECK(reachable(how, logits) == std::set<token_id>{1, 2, 3});
    how.min_p = 1;
    CHECK(reachable(how, logits) == std::set<token_id>{1});
  }
  GIVEN("top_k and top_p") {
    how.top_k = 3; // leaves 0.85
    how.top_p = 0.75;
    THEN("top_p counts what top_k has left as the whole") {
      CHECK(reachable(how, logits) == std::set<token_id>{1, 2});
    }
  }
  GIVEN("equal tokens at the border") {
    how.top_k = 2;
    CHECK(reachable(how, logit_row{1, 1, 1, 1}) == std::set<token_id>{0, 1});
  }
}

/// As sampler does it, by sorting everything.
std::set<token_id> allowed_by_sorting(const logit_row& logits, double top_p) {
  std::vector<token_id> sorted(logits.size());
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](auto a, auto b) { return logits[a] > logits[b]; });
  double total = 0;
  for (float logit : logits)
    total += std::exp(static_cast<double>(logit));
  std::set<token_id> allowed;
  double sum = 0;
  for (auto token : sorted) {
    if (sum >= top_p * total)
      break;
    allowed.insert(token);
    sum += std::exp(static_cast<double>(logits[token]));
  }
  return allowed;
}

TEST_CASE("top_p over a large vocabulary allows what a full sort would") {
  auto top_p = GENERATE(0.2, 0.9, 0.999);
  auto steepness = GENERATE(0.1, 4.0, 15.0);
  logit_row logits(9000);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(chance(3, i) * steepness);
  auto allowed = allowed_by_sorting(logits, top_p);
  sampling_params how;
  how.top_p = top_p;
  sampler one{how};
  std::set<token_id> seen;
  for (std::uint32_t position = 0; position < 100; ++position) {
    auto token = one.draw(logits, position).token;
    CHECK(allowed.contains(token));
    seen.insert(token);
  }
  CHECK(seen.size() > std::min<std::size_t>(allowed.size(), 100) / 3);
}

SCENARIO("penalties make repeated tokens less likely") {
  logit_row logits{2.0f, 1.9f, -1.0f, -1.1f};
  GIVEN("a repetition penalty") {
    auto how = greedy();
    how.repetition_penalty = 1.2;
    sampler one{how};
    CHECK(one.draw(logits, 0).token == 0);
    THEN("a token of the answer is divided by it") {
      CHECK(one.draw(logits, 1).token == 1);
    }
    THEN("a token of the prompt is, too, and only once for both") {
      one.saw_prompt(1);
      one.saw_answer(1);
      one.saw_prompt(0);
      CHECK(one.draw(logits, 1).token == 0);
    }
    THEN("a negative logit is multiplied by it") {
      one.saw_prompt(2);
      CHECK(one.draw(logit_row{-9, -9, -1.0f, -1.1f}, 1).token == 3);
    }
  }
  GIVEN("a frequency penalty") {
    auto how = greedy();
    how.frequency_penalty = 0.06;
    sampler one{how};
    THEN("it counts how often a token came") {
      std::vector<token_id> tokens;
      for (std::uint32_t i = 0; i < 4; ++i)
        tokens.push_back(one.draw(logits, i).token);
      CHECK(tokens == std::vector<token_id>{0, 0, 1, 0});
    }
  }
  GIVEN("a presence penalty") {
    auto how = greedy();
    how.presence_penalty = 0.15;
    sampler one{how};
    THEN("it counts whether a token came, not how often, nor the prompt") {
      one.saw_prompt(0);
      std::vector<token_id> tokens;
      for (std::uint32_t i = 0; i < 4; ++i)
        tokens.push_back(one.draw(logits, i).token);
      CHECK(tokens == std::vector<token_id>{0, 1, 0, 0});
    }
  }
}

SCENARIO("a bias is added, and can forbid or force a token") {
  auto how = greedy();
  how.logit_bias = {{0, -100.0}, {3, 100.0}};
  CHECK(sampler{how}.draw(logit_row{9, 1, 2, -3}, 0).token == 3);
  how.logit_bias = {{0, -100.0}};
  CHECK(sampler{how}.draw(logit_row{9, 1, 2, -3}, 0).token == 2);
}

SCENARIO("no end is drawn before min_tokens") {
  auto how = greedy();
  how.stop_token_ids = {1, 2};
  how.min_tokens = 2;
  logit_row logits{1, 9, 8, 2};
  sampler one{how};
  CHECK(one.draw(logits, 0).token == 3);
  CHECK(one.draw(logits, 1).token == 3);
  CHECK(one.draw(logits, 2).token == 1);
  CHECK(one.answer_tokens() == 3);
  GIVEN("nothing else that could come") {
    logit_row no_choice{-infinite, 9, 8, -infinite};
    CHECK(sampler{how}.draw(no_choice, 0).token == 0);
  }
}

SCENARIO("log-probabilities are those of the raw logits") {
  auto logits = logits_of({0.1, 0.6, 0.3});
  sampling_params how = greedy();
  how.logit_bias = {{2, 50.0}};
  how.logprobs = 2;
  auto result = sampler{how}.draw(logits, 0);
  CHECK(result.token == 2);
  CHECK(result.logprob == Approx(std::log(0.3)));
  REQUIRE(result.top.size() == 2);
  CHECK(result.top[0].token == 1);
  CHECK(result.top[0].logprob == Approx(std::log(0.6)));
  CHECK(result.top[1].token == 2);
  how.logprobs = 0;
  CHECK(sampler{how}.draw(logits, 0).logprob == Approx(std::log(0.3)));
  CHECK(sampler{how}.draw(logits, 0).top.empty());
}

TEST_CASE("logits that are no numbers or infinite don't harm a draw") {
  using change = std::function<void(sampling_params&)>;
  std::vector<change> ways{
    [](auto& how) { how.temperature = 0; },
    [](auto&) {},
    [](auto& how) { how.top_p = 0.9; },
    [](auto& how) { how.top_k = 3; },
    [](auto& how) { how.min_p = 0.1; },
    [](auto& how) { how.temperature = 100; },
    [](auto& how) { how.temperature = 1e-4; },
    [](auto& how) { how.repetition_penalty = 1.5; },
  };
  for (const auto& way : ways) {
    sampling_params how;
    how.logprobs = 2;
    way(how);
    sampler one{how};
    CHECK(one.draw(logit_row(300, no_number), 0).token == 0);
    CHECK(one.draw(logit_row(300, -infinite), 1).token == 0);
    logit_row mixed(300, no_number);
    mixed[200] = -3;
    CHECK(one.draw(mixed, 2).token == 200);
    mixed[201] = infinite;
    CHECK(one.draw(mixed, 3).token == 201);
    CHECK(one.draw(logit_row{-1e38f, 1e38f, no_number}, 4).token == 1);
  }
}

TEST_CASE("a draw is the same whatever was drawn with the sampler before") {
  sampling_params how;
  how.top_p = 0.8;
  sampler used{how};
  logit_row large(5000);
  for (std::size_t i = 0; i < large.size(); ++i)
    large[i] = static_cast<float>(chance(1, i) * 5);
  used.draw(large, 0);
  logit_row small(50, 1.0f);
  CHECK(used.draw(small, 1).token == sampler{how}.draw(small, 1).token);
}

} // namespace
} // namespace perigee::engine
