#include "tests/lab/course.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("in arenas that are too small for all, nothing is lost and nothing hangs") {
  FOR_EVERY_CLUSTER_SEED(seed);
  small_cluster all{seed, {.prefill_blocks = 16, .decode_blocks = 20}};
  check_conservation(all, run(all, seed));
}

TEST_CASE("a later turn of a conversation finds the blocks of the answer before") {
  FOR_EVERY_CLUSTER_SEED(seed);
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
