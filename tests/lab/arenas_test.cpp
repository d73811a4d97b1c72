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

TEST_CASE(
  "what a small shard lets fall to its disk is served from there, bit for bit") {
  FOR_EVERY_CLUSTER_SEED(seed);
  small_cluster all{seed, {.nodes = 1, .shard_blocks = 64, .ssd_blocks = 160}};
  auto ask = [&](engine::token_id first) {
    question one;
    for (engine::token_id i = 0; i < 50; ++i)
      one.prompt.push_back(first + i);
    one.how.temperature = 0;
    one.tokens_max = 4;
    auto stream = all.ask(one);
    all.bench().advance(5s);
    CHECK(all.clients().answers.at(stream).tokens == all.expected(one).tokens);
    return all.clients().answers.at(stream).cached_tokens;
  };
  CHECK(ask(500) == 0);
  for (engine::token_id i = 1; i <= 24; ++i) // three blocks each
    CHECK(ask(500 + 100 * i) == 0);
  CHECK(ask(500) == 48);
  all.settle_all();
  CHECK(all.left_over() == std::vector<std::string>{});
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
  CHECK(answer.tokens == all.expected(second).tokens);
  CHECK(answer.cached_tokens >= 80); // of 101: 99 of them have KV, 96 in whole blocks
  std::uint64_t overlapped = 0;      // and computes on while they come
  for (const auto& [where, counts] : all.probes().prefills)
    overlapped += counts->overlapped_total();
  CHECK(overlapped == 1);
  CHECK(all.left_over() == std::vector<std::string>{});
}

} // namespace
} // namespace perigee::test
