#include "tests/lab/course.hpp"
#include "tests/lab/seeds.hpp"

// The same of clusters whose instances prefill and decode on one engine.

namespace perigee::test {
namespace {

using namespace std::chrono_literals;

/// Of every kind, one after the other.
cluster_shape shape_of(std::uint64_t seed) {
  cluster_shape shape;
  shape.scheduler = seed % 2 == 0 ? "prefill_first" : "chunked";
  shape.prefix_cache = seed % 4 < 2;
  shape.steps_max = seed % 8 < 4 ? 1 : 64;
  return shape;
}

TEST_CASE("coupled, every request is answered with the tokens of the model") {
  FOR_EVERY_CLUSTER_SEED(seed);
  small_cluster all{seed, shape_of(seed)};
  check_conservation(all, run(all, seed));
}

TEST_CASE("coupled, in an arena too small for all, who makes room loses nothing") {
  FOR_EVERY_CLUSTER_SEED(seed);
  auto shape = shape_of(seed);
  shape.decode_blocks = 16;
  small_cluster all{seed, shape};
  check_conservation(all, run(all, seed));
}

TEST_CASE("coupled, whoever dies, every request has one end and nothing stays behind") {
  FOR_EVERY_CLUSTER_SEED(seed);
  dice roll{seed * 7919};
  auto shape = shape_of(seed);
  shape.decode_blocks = seed % 3 == 0 ? 16 : 64;
  small_cluster all{seed, shape};
  auto kill = 1 + roll.below(3000);
  auto done = run(all, seed, kill);
  INFO("seed " << seed << ": " << done.killed << " before message " << kill);
  check_conservation(all, done);
}

TEST_CASE("coupled, every nanosecond of a request is in one of its stages") {
  FOR_EVERY_CLUSTER_SEED(seed);
  small_cluster all{seed, shape_of(seed)};
  auto done = run(all, seed);
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

TEST_CASE("coupled, a later turn of a conversation goes where the one before was") {
  FOR_EVERY_CLUSTER_SEED(seed);
  auto shape = shape_of(seed);
  shape.prefix_cache = true;
  small_cluster all{seed, shape};
  question first;
  for (engine::token_id i = 0; i < 40; ++i)
    first.prompt.push_back(500 + i);
  first.how.temperature = 0;
  first.tokens_max = 60;
  auto one = all.ask(first);
  all.bench().advance(60s);
  auto second = first;
  for (auto token : all.clients().answers.at(one).tokens)
    second.prompt.push_back(token);
  second.prompt.push_back(9);
  auto two = all.ask(second);
  all.settle_all();
  const auto& answer = all.clients().answers.at(two);
  CHECK(answer.tokens == all.expected(second).tokens);
  CHECK(answer.cached_tokens == 96); // of 101: 99 of them have KV, in whole blocks
  CHECK(all.left_over() == std::vector<std::string>{});
}

} // namespace
} // namespace perigee::test
