#include "tests/actors/prefill_group/serving_bench.hpp"

namespace perigee::test {
namespace {

using schema::End;

void check_answer(const serving_bench& all, std::uint64_t request, End end) {
  INFO("request " << request);
  const auto& got = all.heard.at(request);
  CHECK(got.said == all.expected(request));
  CHECK(got.end == end);
}

TEST_CASE("a request is computed, handed over and answered to its last token") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto request = all.ask({.prompt = prompt_of(37, 1), .tokens_max = 8});
  all.bench.advance(10s);
  check_answer(all, request, End::LENGTH);
  CHECK(all.heard[request].said.size() == 8);
  all.check_conservation();
}

TEST_CASE("many requests at once get the tokens that each would get alone") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  for (std::uint32_t i = 0; i < 12; ++i)
    all.ask({.prompt = prompt_of(1 + i * 7 % 50, i),
             .tokens_max = 2 + i % 9,
             .temperature = i % 2 ? 0.8 : 0});
  all.bench.advance(60s);
  for (std::uint64_t request = 1; request <= 12; ++request)
    check_answer(all, request, End::LENGTH);
  all.check_conservation();
}

TEST_CASE("a prompt may come before its plan") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  wish what{.prompt = prompt_of(20, 1)};
  all.wishes[1] = what;
  all.tell_prompt(1, what);
  all.bench.advance(1s);
  all.tell_prefill(1, what);
  all.bench.advance(10s);
  check_answer(all, 1, End::LENGTH);
  all.check_conservation();
}

TEST_CASE("an answer of one token needs no decode instance") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto request = all.ask({.prompt = prompt_of(20, 1), .tokens_max = 1});
  all.bench.advance(10s);
  check_answer(all, request, End::LENGTH);
  CHECK(all.in_decode("accepted_total") == 0);
  all.check_conservation();
}

TEST_CASE("an answer that ends with its first token needs no decode instance") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto request = all.ask({.prompt = prompt_of(20, 1), .modelled_tokens = 1});
  all.bench.advance(10s);
  check_answer(all, request, End::STOP);
  CHECK(all.heard[request].said.empty());
  CHECK(all.heard[request].stop_token == engine::modelled_end);
  CHECK(all.in_decode("accepted_total") == 0);
  all.check_conservation();
}

TEST_CASE("an answer ends with its stop token, which isn't part of it") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto request
    = all.ask({.prompt = prompt_of(20, 1), .tokens_max = 50, .modelled_tokens = 6});
  all.bench.advance(10s);
  check_answer(all, request, End::STOP);
  CHECK(all.heard[request].said.size() == 5);
  CHECK(all.heard[request].stop_token == engine::modelled_end);
  all.check_conservation();
}

TEST_CASE("each token of a prompt but the first is scored, if that is wanted") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto request = all.ask({.prompt = prompt_of(41, 1), .prompt_logprobs = 0});
  all.bench.advance(10s);
  check_answer(all, request, End::LENGTH);
  CHECK(all.heard[request].scores.size() == 40);
  all.check_conservation();
}

TEST_CASE("the next turn of a conversation reuses prompt and answer") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto first = all.ask({.prompt = prompt_of(30, 1), .tokens_max = 11});
  all.bench.advance(10s);
  auto turn = prompt_of(30, 1);
  const auto& said = all.heard[first].said;
  turn.insert(turn.end(), said.begin(), said.end());
  for (auto token : prompt_of(9, 2))
    turn.push_back(token);
  // 40 of the 41 tokens have KV: the answer's last was never fed.
  auto second = all.ask({.prompt = turn, .reuse = 40 / 4});
  all.bench.advance(10s);
  check_answer(all, second, End::LENGTH);
  CHECK(all.heard[second].cached == 40);
  CHECK(all.in_prefill("tokens_computed_total") == 30 + turn.size() - 40);
  all.check_conservation();
}

TEST_CASE("what the pool has lost of a prefix is computed") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  all.ask({.prompt = prompt_of(16, 1)});
  all.bench.advance(10s);
  auto request = all.ask({.prompt = prompt_of(33, 1), .reuse = 8});
  auto other = all.ask({.prompt = prompt_of(33, 2), .reuse = 8});
  all.bench.advance(10s);
  check_answer(all, request, End::LENGTH);
  CHECK(all.heard[request].cached == 16);
  check_answer(all, other, End::LENGTH);
  CHECK(all.heard[other].cached == 0);
  all.check_conservation();
}

TEST_CASE("a silent pool costs time, and nothing else") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed, {.shard = pool::silent}};
  auto request = all.ask({.prompt = prompt_of(33, 1), .reuse = 8});
  all.bench.advance(10s);
  check_answer(all, request, End::LENGTH);
  CHECK(all.heard[request].stages.at("fetch") == 1s);
  all.check_conservation();
}

TEST_CASE("no pool costs nothing") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed, {.shard = pool::none}};
  auto request = all.ask({.prompt = prompt_of(33, 1), .reuse = 8});
  all.bench.advance(10s);
  check_answer(all, request, End::LENGTH);
  CHECK(all.heard[request].stages.at("fetch") == 0s);
  all.check_conservation();
}

TEST_CASE("requests wait for blocks of an arena that is full") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed, {.prefill_blocks = 12, .decode_blocks = 24}};
  for (std::uint32_t i = 0; i < 9; ++i)
    all.ask({.prompt = prompt_of(20 + i, i), .tokens_max = 5});
  all.bench.advance(60s);
  for (std::uint64_t request = 1; request <= 9; ++request)
    check_answer(all, request, End::LENGTH);
  all.check_conservation();
}

TEST_CASE("who would need more blocks than an arena has is told that it is busy") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed, {.prefill_blocks = 12, .decode_blocks = 8}};
  auto large = all.ask({.prompt = prompt_of(49, 1)});
  auto larger_than_decode = all.ask({.prompt = prompt_of(32, 2)});
  all.bench.advance(10s);
  CHECK(all.heard[large].end == End::BUSY);
  CHECK(all.heard[larger_than_decode].end == End::BUSY);
  all.check_conservation();
}

TEST_CASE("who comes when the line is full is told that the group is busy") {
  FOR_EVERY_SEED(seed);
  serving_bench all{
    seed, {.prefill = {.chunk_tokens = 16, .waiting_max = 2}, .prefill_blocks = 8}};
  for (std::uint32_t i = 0; i < 4; ++i)
    all.ask({.prompt = prompt_of(32, i)});
  all.bench.advance(60s);
  std::map<End, int> ends;
  for (std::uint64_t request = 1; request <= 4; ++request)
    ++ends[all.heard[request].end];
  CHECK(ends == std::map<End, int>{{End::LENGTH, 3}, {End::BUSY, 1}});
  all.check_conservation();
}

TEST_CASE("the stages of a request add up to its time, to the tick") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed, {.decode_blocks = 24}};
  all.ask({.prompt = prompt_of(30, 0)});
  all.bench.advance(1s);
  for (std::uint32_t i = 0; i < 6; ++i)
    all.ask(
      {.prompt = prompt_of(30 + i, i), .tokens_max = 9, .reuse = i % 2 ? 0u : 7u});
  all.bench.advance(60s);
  for (const auto& [request, got] : all.heard) {
    ns sum{};
    for (const auto& [name, span] : got.stages)
      sum += span;
    CHECK(sum == got.end_at - got.asked_at);
    check_answer(all, request, End::LENGTH);
  }
  CHECK(all.heard[2].stages.at("fetch") > 0ns);
  all.check_conservation();
}

TEST_CASE("a cancel at any moment frees everything, and nothing follows it") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed, {.decode_blocks = 24}};
  all.ask({.prompt = prompt_of(30, 0)});
  all.bench.advance(1s);
  for (std::uint32_t i = 0; i < 5; ++i)
    all.ask(
      {.prompt = prompt_of(30 + i, i), .tokens_max = 20, .reuse = i % 2 ? 0u : 7u});
  all.bench.advance(std::chrono::microseconds{seed * 337});
  for (std::uint64_t request = 3; request <= 5; ++request)
    all.cancel(request);
  all.bench.settle();
  auto before = all.heard;
  all.bench.advance(60s);
  for (std::uint64_t request = 3; request <= 5; ++request) {
    CHECK(all.heard[request].cancelled == 2);
    CHECK(all.heard[request].said.size() == before[request].said.size());
  }
  check_answer(all, 2, End::LENGTH);
  check_answer(all, 6, End::LENGTH);
  all.check_conservation();
}

TEST_CASE("a cancel that overtakes its request is remembered") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  all.cancel(1);
  all.bench.advance(1ms);
  all.ask({.prompt = prompt_of(30, 0)});
  all.bench.advance(10s);
  CHECK(all.heard[1].cancelled == 2);
  CHECK(all.heard[1].ends == 0);
  CHECK(all.heard[1].said.empty());
  all.check_conservation();
}

TEST_CASE("a deadline ends a request wherever it is") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed, {.decode_blocks = 24}};
  for (std::uint32_t i = 0; i < 5; ++i)
    all.ask({.prompt = prompt_of(30 + i, i),
             .tokens_max = 200,
             .remaining = std::chrono::microseconds{1 + seed * 711}});
  all.bench.advance(60s);
  for (std::uint64_t request = 1; request <= 5; ++request) {
    CHECK(all.heard[request].end == End::DEADLINE);
    CHECK(all.heard[request].ends == 1);
  }
  all.check_conservation();
}

TEST_CASE("a decode instance refuses what would make its steps too long") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto first = all.ask({.prompt = prompt_of(30, 0), .tokens_max = 100});
  all.bench.advance(20ms);
  auto second = all.ask({.prompt = prompt_of(30, 1), .tbt_limit = 1ns});
  all.bench.advance(60s);
  check_answer(all, first, End::LENGTH);
  CHECK(all.heard[second].end == End::REFUSED);
  CHECK(all.heard[second].said.empty());
  all.check_conservation();
}

TEST_CASE("sequences leave a full arena, come back, and lose no token") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed, {.decode_blocks = 16}};
  for (std::uint32_t i = 0; i < 4; ++i)
    all.ask({.prompt = prompt_of(12, i), .tokens_max = 36, .temperature = i % 2 * 0.7});
  all.bench.advance(60s);
  for (std::uint64_t request = 1; request <= 4; ++request)
    check_answer(all, request, End::LENGTH);
  CHECK(all.in_decode("parked_total") > 0);
  CHECK(all.in_decode("returned_total") == all.in_decode("parked_total"));
  all.check_conservation();
}

TEST_CASE("where the pool has no room either, the youngest is told that it is busy") {
  FOR_EVERY_SEED(seed);
  auto how
    = bench_shape{.decode_blocks = 16, .shard = GENERATE(pool::none, pool::silent)};
  serving_bench all{seed, how};
  for (std::uint32_t i = 0; i < 3; ++i)
    all.ask({.prompt = prompt_of(12, i), .tokens_max = 40});
  all.bench.advance(120s);
  std::map<End, int> ends;
  for (std::uint64_t request = 1; request <= 3; ++request)
    ++ends[all.heard[request].end];
  CHECK(ends[End::LENGTH] + ends[End::BUSY] == 3);
  CHECK(ends[End::LENGTH] >= 1);
  all.check_conservation();
}

TEST_CASE("long runs give the same tokens at the same times as single steps") {
  FOR_EVERY_SEED(seed);
  auto run = [&](std::uint32_t steps_max) {
    serving_bench all{seed, {.decode = {.steps_max = steps_max}, .decode_blocks = 40}};
    for (std::uint32_t i = 0; i < 4; ++i) {
      all.ask({.prompt = prompt_of(12 + i, i),
               .tokens_max = 20 + 7 * i,
               .modelled_tokens = i == 2 ? 13u : 0u,
               .temperature = i % 2 * 0.7});
      all.bench.advance(std::chrono::microseconds{5'137});
    }
    all.bench.advance(60s);
    for (std::uint64_t request = 1; request <= 4; ++request)
      check_answer(all, request, request == 3 ? End::STOP : End::LENGTH);
    all.check_conservation();
    std::vector<ns> ends;
    for (const auto& [request, got] : all.heard)
      ends.push_back(got.end_at);
    return ends;
  };
  CHECK(run(1) == run(1000));
}

TEST_CASE("reports come on change, not too often, and never while idle") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  for (std::uint32_t i = 0; i < 4; ++i)
    all.ask({.prompt = prompt_of(30, i), .tokens_max = 25});
  all.bench.advance(60s);
  for (const auto* at : {&all.reported.prefill_at, &all.reported.decode_at}) {
    REQUIRE(at->size() > 1);
    for (std::size_t i = 1; i < at->size(); ++i)
      CHECK((*at)[i] - (*at)[i - 1] >= 100ms);
    CHECK(at->back() < 10s);
  }
  CHECK(all.reported.prefill_ended.size() == 4);
  CHECK(all.reported.decode_began.size() == 4);
  CHECK(all.reported.decode_ended.size() == 4);
  CHECK(all.reported.prefill->getQueuedTokens() == 0);
  CHECK(all.reported.decode->getSequences() == 0);
  all.check_conservation();
}

} // namespace
} // namespace perigee::test
