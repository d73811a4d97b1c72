#include "engine/modelled/modelled_engine.hpp"

#include "engine/sampling/chance.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace perigee::engine {
namespace {

using tokens = std::vector<token_id>;
using block_table = std::vector<std::uint32_t>;

tokens some_prompt(std::size_t count, std::uint64_t seed = 1) {
  tokens prompt(count);
  for (std::size_t i = 0; i < count; ++i)
    prompt[i] = static_cast<token_id>(mixed(seed, i) % 1000);
  return prompt;
}

modelled_options checked() {
  modelled_options options;
  options.checked = true;
  options.vocabulary = 1000;
  options.arena_blocks = 64;
  return options;
}

/// One sequence on an engine, told what to do step by step.
struct sequence {
  engine& on;
  block_table blocks;
  sampler pick;
  std::uint32_t position = 0;
  tokens answer = {};

  void feed(std::span<const token_id> what, bool draws) {
    sampled drawn;
    slice part{
      what, position, blocks, draws ? &pick : nullptr, draws ? &drawn : nullptr, {}};
    REQUIRE(on.run({&part, 1}, {}));
    position += static_cast<std::uint32_t>(what.size());
    if (draws)
      answer.push_back(drawn.token);
  }

  void prefill(std::span<const token_id> prompt, std::size_t chunk) {
    for (std::size_t at = 0; at < prompt.size(); at += chunk) {
      auto length = std::min(chunk, prompt.size() - at);
      feed(prompt.subspan(at, length), at + length == prompt.size());
    }
  }

  void decode(std::size_t count) {
    while (answer.size() < count) {
      auto last = answer.back();
      feed({&last, 1}, true);
    }
  }
};

sampling_params greedy() {
  sampling_params how;
  how.temperature = 0;
  return how;
}

TEST_CASE("a checked engine answers as expected, with any chunks and blocks") {
  auto chunk = GENERATE(1u, 7u, 16u, 64u, 1000u);
  auto sampled = GENERATE(false, true);
  auto how = sampled ? sampling_params{} : greedy();
  how.seed = 5;
  auto prompt = some_prompt(70);
  auto one = make_modelled_engine(checked());
  sequence it{*one, {9, 2, 33, 4, 63, 0}, sampler{how}};
  it.prefill(prompt, chunk);
  it.decode(20);
  CHECK(it.answer == expected_tokens(checked(), prompt, how, 20));
}

TEST_CASE("tokens differ by prompt, by the model's seed and, if sampled, by the seed") {
  auto prompt = some_prompt(20);
  auto expected = expected_tokens(checked(), prompt, greedy(), 10);
  auto other_model = checked();
  other_model.seed = 1;
  CHECK(expected_tokens(other_model, prompt, greedy(), 10) != expected);
  CHECK(expected_tokens(checked(), some_prompt(20, 2), greedy(), 10) != expected);
  sampling_params one;
  sampling_params two;
  two.seed = 1;
  CHECK(expected_tokens(checked(), prompt, one, 10)
        != expected_tokens(checked(), prompt, two, 10));
}

TEST_CASE("a batch of prefill and decode gives each what it gets alone") {
  auto one = make_modelled_engine(checked());
  auto prompt = some_prompt(40);
  auto other_prompt = some_prompt(25, 9);
  sequence first{*one, {0, 1, 2, 3}, sampler{greedy()}};
  first.prefill(prompt, 40);
  sequence second{*one, {10, 11, 12}, sampler{greedy()}};
  sampled drawn[2];
  std::vector<slice> batch{
    {first.answer, 40, first.blocks, &first.pick, &drawn[0], {}},
    {other_prompt, 0, second.blocks, &second.pick, &drawn[1], {}},
  };
  REQUIRE(one->run(batch, {}));
  CHECK(drawn[0].token == expected_tokens(checked(), prompt, greedy(), 2)[1]);
  CHECK(drawn[1].token == expected_tokens(checked(), other_prompt, greedy(), 1)[0]);
}

/// The second token of a sequence whose KV somebody `spoiled` before its first decode.
token_id second_token(const std::function<void(arena_view, block_table&)>& spoil) {
  auto one = make_modelled_engine(checked());
  auto others = some_prompt(64, 3);
  sequence stranger{*one, {20, 21, 22, 23}, sampler{greedy()}};
  stranger.prefill(others, 64);
  sequence it{*one, {5, 6, 7, 8}, sampler{greedy()}};
  it.prefill(some_prompt(50), 50);
  spoil(one->arena(), it.blocks);
  it.decode(2);
  return it.answer[1];
}

TEST_CASE("KV that is not the sequence's own changes its tokens") {
  auto right = second_token([](auto, auto&) {});
  CHECK(right == expected_tokens(checked(), some_prompt(50), greedy(), 2)[1]);
  SECTION("two blocks in the wrong order") {
    CHECK(right
          != second_token([](auto, auto& blocks) { std::swap(blocks[0], blocks[1]); }));
  }
  SECTION("another sequence's block") {
    CHECK(right != second_token([](auto, auto& blocks) { blocks[1] = 21; }));
  }
  SECTION("one layer of a block that never came") {
    for (std::uint32_t layer : {0u, 1u})
      CHECK(right != second_token([&](arena_view arena, auto&) {
              auto* from = arena.base + arena.layout.offset(6, layer);
              std::fill_n(from, arena.layout.layer_bytes(), std::byte{});
            }));
  }
  SECTION("any single bit of any token") {
    auto layout = checked().layout;
    for (std::size_t at = 0; at < layout.block_bytes(); at += 3)
      CHECK(right != second_token([&](arena_view arena, auto&) {
              arena.base[layout.offset(7, 0) + at] ^= std::byte{0x10};
            }));
  }
  SECTION("but bytes of another block change nothing") {
    CHECK(right == second_token([](arena_view arena, auto&) {
            arena.base[arena.layout.offset(9, 0)] ^= std::byte{0xff};
          }));
  }
}

TEST_CASE("KV that was copied to another engine's blocks is as good") {
  auto from = make_modelled_engine(checked());
  auto to = make_modelled_engine(checked());
  auto prompt = some_prompt(48);
  sequence it{*from, {1, 2, 3}, sampler{greedy()}};
  it.prefill(prompt, 48);
  auto bytes = to->arena().layout.block_bytes();
  block_table there{40, 30, 20, 10};
  for (std::size_t i = 0; i < 3; ++i)
    std::copy_n(from->arena().base + it.blocks[i] * bytes, bytes,
                to->arena().base + there[i] * bytes);
  sequence moved{*to, there, it.pick, it.position, it.answer};
  moved.decode(10);
  CHECK(moved.answer == expected_tokens(checked(), prompt, greedy(), 10));
}

TEST_CASE("an engine that isn't checked has no memory, and answers as expected") {
  auto options = checked();
  options.checked = false;
  options.layout = {80, 8, 128, 512, 2};
  auto one = make_modelled_engine(options);
  CHECK(one->arena().base == nullptr);
  auto prompt = some_prompt(700);
  sequence it{*one, {0, 1}, sampler{sampling_params{}}};
  it.prefill(prompt, 300);
  it.decode(30);
  CHECK(it.answer == expected_tokens(options, prompt, {}, 30));
}

TEST_CASE("an answer ends after exactly as many tokens as were asked of the model") {
  auto is_checked = GENERATE(false, true);
  auto length = GENERATE(1u, 2u, 17u);
  auto options = checked();
  options.checked = is_checked;
  options.vocabulary = 10; // the end would come soon if chance could draw it
  sampling_params how;
  how.modelled_output_tokens = length;
  auto answer = expected_tokens(options, tokens{1, 2, 3}, how, 100);
  REQUIRE(answer.size() == length);
  CHECK(answer.back() == modelled_end);
  how.modelled_output_tokens = 0;
  CHECK(expected_tokens(options, tokens{1, 2, 3}, how, 300).size() == 300);
}

TEST_CASE("min_tokens holds back the end and other stop tokens") {
  auto options = checked();
  options.vocabulary = 8;
  sampling_params how;
  how.modelled_output_tokens = 3;
  how.min_tokens = 40;
  how.stop_token_ids = {modelled_end, 5, 6};
  auto answer = expected_tokens(options, tokens{1}, how, 100);
  REQUIRE(answer.size() == 41);
  CHECK(answer.back() == modelled_end);
  CHECK(std::count(answer.begin(), answer.end(), 5u) == 0);
  how.min_tokens = 0;
  how.modelled_output_tokens = 40;
  answer = expected_tokens(options, tokens{1}, how, 100);
  CHECK(std::count(answer.begin(), answer.end(), 5u) > 0);
}

TEST_CASE("log-probabilities of a modelled token are those of its logits") {
  auto one = make_modelled_engine(checked());
  auto how = greedy();
  how.logprobs = 2;
  sampler pick{how};
  sampled drawn;
  block_table blocks{0};
  tokens prompt{4, 5};
  std::vector<std::uint32_t> positions;
  sampled by_logits;
  slice part{prompt, 0, blocks, &pick, &drawn, [&](auto position, auto logits) {
               positions.push_back(position);
               by_logits = score(logits, drawn.token, 2);
               by_logits.token = static_cast<token_id>(
                 std::max_element(logits.begin(), logits.end()) - logits.begin());
             }};
  REQUIRE(one->run({&part, 1}, {}));
  CHECK(positions == std::vector<std::uint32_t>{0, 1});
  CHECK(by_logits.token == drawn.token);
  CHECK(drawn.logprob < 0);
  REQUIRE(drawn.top.size() == 2);
  CHECK(drawn.top[0].token == drawn.token);
  CHECK(drawn.top[0].logprob == drawn.logprob);
}

TEST_CASE("hooks are called for each layer in order, and a no stops the run") {
  auto one = make_modelled_engine(checked());
  tokens prompt{4};
  block_table blocks{0};
  slice part{prompt, 0, blocks, nullptr, nullptr, {}};
  std::string heard;
  layer_hooks hooks{
    [&](auto layer) { return heard += "<" + std::to_string(layer), true; },
    [&](auto layer) { heard += ">" + std::to_string(layer); }};
  REQUIRE(one->run({&part, 1}, hooks));
  CHECK(heard == "<0>0<1>1");
  heard.clear();
  hooks.before = [](auto layer) { return layer == 0; };
  auto stopped = one->run({&part, 1}, hooks);
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error() == run_fault::starved);
  CHECK(heard == ">0");
  CHECK(one->run({&part, 1}, {}));
}

TEST_CASE("a batch that can't be right is refused before a hook is called") {
  auto options = checked();
  options.batch_tokens_max = 40;
  options.context_tokens_max = 100;
  auto one = make_modelled_engine(options);
  auto prompt = some_prompt(40);
  block_table blocks{0, 1, 2, 3, 4, 5, 6, 7};
  sampler pick{greedy()};
  sampled drawn;
  slice part{prompt, 0, blocks, nullptr, nullptr, {}};
  REQUIRE(one->run({&part, 1}, {}));
  auto two = std::vector{part, part};
  SECTION("no tokens") {
    part.tokens = {};
  }
  SECTION("a token outside the vocabulary") {
    prompt[39] = 1000;
  }
  SECTION("beyond the context") {
    part.first_position = 61;
  }
  SECTION("a block table that is too short") {
    blocks.resize(2), part.blocks = blocks;
  }
  SECTION("a block outside the arena") {
    blocks[2] = 64;
  }
  SECTION("a draw that has no place to go") {
    part.pick = &pick;
  }
  SECTION("a place for a draw that isn't wanted") {
    part.drawn = &drawn;
  }
  SECTION("too many tokens") {
    auto run = one->run(two, {});
    REQUIRE_FALSE(run);
    CHECK(run.error() == run_fault::bad_batch);
    return;
  }
  bool called = false;
  auto run = one->run({&part, 1}, {[&](auto) { return called = true; }, {}});
  REQUIRE_FALSE(run);
  CHECK(run.error() == run_fault::bad_batch);
  CHECK_FALSE(called);
}

} // namespace
} // namespace perigee::engine
