#include "tests/lab/course.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace perigee::test {

using namespace std::chrono_literals;

question some_question(dice& roll) {
  question one;
  auto document = roll.below(4);
  auto shared = roll.below(8) * 16;
  for (std::uint64_t i = 0; i < shared; ++i)
    one.prompt.push_back(static_cast<engine::token_id>(100 * (document + 1) + i));
  auto own = 1 + roll.below(40);
  for (std::uint64_t i = 0; i < own; ++i)
    one.prompt.push_back(static_cast<engine::token_id>(1000 + roll.below(20'000)));
  one.how.temperature = roll.below(2) == 0 ? 0 : 1;
  one.how.seed = roll.below(1000);
  one.how.stop_token_ids = {engine::modelled_end};
  one.how.modelled_output_tokens = static_cast<std::uint32_t>(1 + roll.below(60));
  one.tokens_max = static_cast<std::uint32_t>(1 + roll.below(50));
  return one;
}

course run(small_cluster& all, std::uint64_t seed, std::uint64_t kill) {
  dice roll{seed};
  course done;
  std::uint64_t messages = 0;
  auto look = [&] {
    if (++messages == kill)
      done.killed = all.kill_one(roll.below(1 << 20));
  };
  for (int i = 0; i < 24; ++i) {
    auto one = some_question(roll);
    auto stream = all.ask(one);
    done.asked.emplace_back(stream, one);
    all.bench().advance(std::chrono::milliseconds{roll.below(300)}, look);
    if (roll.below(6) == 0)
      all.withdraw(1 + roll.below(stream));
  }
  all.bench().advance(60s, look);
  all.settle_all();
  return done;
}

void check_answer(const told& answer, const right_answer& right, bool may_fail) {
  if (answer.end == gateway::stream_end::stop
      || answer.end == gateway::stream_end::length) {
    CHECK(answer.tokens == right.tokens);
    CHECK(answer.end == right.end);
    return;
  }
  // What came was right as far as it came.
  REQUIRE(answer.tokens.size() <= right.tokens.size());
  CHECK(std::equal(answer.tokens.begin(), answer.tokens.end(), right.tokens.begin()));
  if (!may_fail && !answer.withdrawn) {
    INFO((answer.why ? answer.why->message : "no reason"));
    FAIL("a request failed although nobody died");
  }
}

void check_conservation(small_cluster& all, const course& done) {
  CHECK(all.left_over() == std::vector<std::string>{});
  for (const auto& [stream, asked] : done.asked) {
    INFO("stream " << stream);
    check_answer(all.clients().answers.at(stream), all.expected(asked),
                 !done.killed.empty());
  }
}

} // namespace perigee::test
