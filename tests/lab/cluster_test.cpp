#include "tests/lab/seeds.hpp"
#include "tests/lab/small_cluster.hpp"

#include <cstdlib>

// Conservation, checked at the end of every run of a cluster: each request reached
// exactly one end, what was answered is what the model says, and nobody holds anything.

namespace perigee::test {
namespace {

using namespace std::chrono_literals;

/// Numbers of a seed, one after the other.
class dice {
public:
  explicit dice(std::uint64_t seed) : roll_(seed) {}

  std::uint64_t below(std::uint64_t n) {
    return roll_() % n;
  }

private:
  std::mt19937_64 roll_;
};

/// One of a few documents, then something of its own: so prefixes repeat.
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

struct course {
  std::vector<std::pair<std::uint64_t, question>> asked; // by stream
  std::string killed;
};

/// Questions come at random moments; some of their clients go again. If `kill` is set,
/// an actor dies before the `kill`-th message is handled.
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

void check_conservation(small_cluster& all, const course& done) {
  CHECK(all.left_over() == std::vector<std::string>{});
  for (const auto& [stream, asked] : done.asked) {
    INFO("stream " << stream);
    const auto& answer = all.clients().answers.at(stream);
    auto [tokens, end] = all.expected(asked);
    if (answer.end == gateway::stream_end::stop
        || answer.end == gateway::stream_end::length) {
      CHECK(answer.tokens == tokens);
      CHECK(answer.end == end);
      continue;
    }
    // What came was right as far as it came.
    REQUIRE(answer.tokens.size() <= tokens.size());
    CHECK(std::equal(answer.tokens.begin(), answer.tokens.end(), tokens.begin()));
    if (done.killed.empty() && !answer.withdrawn) {
      INFO((answer.why ? answer.why->message : "no reason"));
      FAIL("a request failed although nobody died");
    }
  }
}

TEST_CASE("every request is answered with the tokens of the model, wherever it runs") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed};
  check_conservation(all, run(all, seed, 0));
}

TEST_CASE("runs of many steps give the same answers as steps one by one") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed, {.steps_max = 64}};
  check_conservation(all, run(all, seed, 0));
}

TEST_CASE("in arenas that are too small for all, nothing is lost and nothing hangs") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed, {.prefill_blocks = 16, .decode_blocks = 20}};
  check_conservation(all, run(all, seed, 0));
}

/// A course in which somebody dies.
void check_with_a_death(std::uint64_t course_seed) {
  dice roll{course_seed * 7919};
  small_cluster all{course_seed};
  auto kill = 1 + roll.below(4000);
  auto done = run(all, course_seed, kill);
  INFO("seed " << course_seed << ": " << done.killed << " before message " << kill);
  check_conservation(all, done);
}

TEST_CASE("whoever dies, every request has one end and nothing stays behind") {
  FOR_EVERY_SEED(seed);
  check_with_a_death(2 * seed);
  check_with_a_death(2 * seed + 1); // two hundred courses in all
}

TEST_CASE("the same, a thousand times, by hand", "[.thousand]") {
  for (std::uint64_t seed = 1000; seed < 2000; ++seed)
    check_with_a_death(seed);
}

TEST_CASE("one seed, one course of a whole cluster") {
  auto value = [](std::uint64_t seed) {
    small_cluster all{seed};
    run(all, seed, 500);
    return all.bench().record().value();
  };
  for (std::uint64_t seed : {1, 2, 3})
    CHECK(value(seed) == value(seed));
}

TEST_CASE("every nanosecond of a request is in one of its stages") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed};
  auto done = run(all, seed, 0);
  auto compared = 0;
  for (const auto& [stream, asked] : done.asked) {
    const auto& answer = all.clients().answers.at(stream);
    if (!answer.last || answer.withdrawn)
      continue;
    INFO("stream " << stream << ' ' << to_json(*answer.last));
    CHECK(answer.last->total() == answer.ended_at - answer.asked_at);
    if (!answer.first)
      continue; // its first token was its end
    CHECK(answer.first->total() == answer.first_at - answer.asked_at);
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("a later turn of a conversation finds the blocks of the answer before") {
  FOR_EVERY_SEED(seed);
  small_cluster all{seed};
  question first;
  for (engine::token_id i = 0; i < 40; ++i)
    first.prompt.push_back(500 + i);
  first.how.temperature = 0;
  first.tokens_max = 60;
  auto one = all.ask(first);
  all.bench().advance(30s);
  auto second = first;
  for (auto token : all.clients().answers.at(one).tokens)
    second.prompt.push_back(token);
  second.prompt.push_back(9);
  auto two = all.ask(second);
  all.settle_all();
  const auto& answer = all.clients().answers.at(two);
  CHECK(answer.tokens == all.expected(second).first);
  CHECK(answer.cached_tokens >= 80); // of 101: 99 of them have KV, 96 in whole blocks
  CHECK(all.left_over() == std::vector<std::string>{});
}

} // namespace
} // namespace perigee::test
