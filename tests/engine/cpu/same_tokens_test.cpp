#include "engine/cpu/cpu_engine.hpp"
#include "engine/cpu/kernels/kernels.hpp"
#include "engine/sampling/chance.hpp"
#include "tests/engine/cpu/sequence_run.hpp"
#include "tests/engine/cpu/tiny_model.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <random>

namespace perigee::engine::cpu {
namespace {

constexpr std::uint32_t blocks_a_sequence = 10;
constexpr std::size_t answer_tokens = 8;

/// What the matrix runs: a model, and sequences with prompts of their own.
struct subject {
  std::shared_ptr<const weights> model;
  std::vector<tokens> prompts;
};

tokens some_prompt(std::size_t count, std::uint64_t seed, std::uint32_t vocabulary) {
  tokens prompt(count);
  for (std::size_t i = 0; i < count; ++i)
    prompt[i] = static_cast<token_id>(mixed(seed, i) % vocabulary);
  return prompt;
}

subject subject_of(std::shared_ptr<const weights> model) {
  subject it{std::move(model), {}};
  std::uint64_t seed = 0;
  for (std::size_t length : {100, 1, 16, 33, 70, 15, 48, 65})
    it.prompts.push_back(some_prompt(length, ++seed, it.model->info.vocabulary));
  return it;
}

/// Half of them greedy.
sampling_params params_of(std::size_t sequence) {
  sampling_params how;
  how.temperature = sequence % 2 == 0 ? 0 : 0.9;
  how.top_p = 0.95;
  how.seed = sequence;
  return how;
}

std::unique_ptr<engine> engine_of(const subject& it, engine_options how) {
  how.arena_blocks = static_cast<std::uint32_t>(it.prompts.size()) * blocks_a_sequence;
  auto made = make_engine(it.model, how);
  REQUIRE(made);
  return std::move(*made);
}

/// Blocks of a sequence, all over the arena.
block_table blocks_of(const subject& it, std::size_t sequence, std::uint32_t seed) {
  block_table all(it.prompts.size() * blocks_a_sequence);
  std::iota(all.begin(), all.end(), 0u);
  std::shuffle(all.begin(), all.end(), std::mt19937{seed});
  auto begin = all.begin() + static_cast<std::ptrdiff_t>(sequence * blocks_a_sequence);
  return {begin, begin + blocks_a_sequence};
}

sequence_run sequence_of(const subject& it, std::size_t index, std::uint32_t seed = 1) {
  return {it.prompts[index], blocks_of(it, index, seed), params_of(index)};
}

/// Each sequence alone, its prompt whole, on one thread.
std::vector<sequence_run> run_alone(const subject& it, kv_type kv) {
  engine_options how;
  how.kv = kv;
  std::vector<sequence_run> all;
  auto on = engine_of(it, how);
  for (std::size_t i = 0; i < it.prompts.size(); ++i) {
    all.push_back(sequence_of(it, i));
    all.back().run(*on, 1000, answer_tokens);
  }
  return all;
}

void check_same(const sequence_run& one, const sequence_run& expected) {
  CHECK(one.answer() == expected.answer());
  CHECK(are_same_bits(one.logits(), expected.logits()));
}

void check_chunks(const subject& it, kv_type kv,
                  const std::vector<sequence_run>& expected) {
  engine_options how;
  how.kv = kv;
  how.threads = 2;
  auto on = engine_of(it, how);
  for (std::size_t chunk : {1, 7, 64})
    for (std::size_t i : {std::size_t{0}, std::size_t{3}}) {
      INFO("chunks of " << chunk << ", sequence " << i);
      auto one = sequence_of(it, i, 2);
      one.run(*on, chunk, answer_tokens);
      check_same(one, expected[i]);
    }
}

/// All at once: each begins a step later than the one before, so that prefill and
/// decode mix.
void check_company(const subject& it, kv_type kv, std::size_t threads,
                   std::size_t chunk, const std::vector<sequence_run>& expected) {
  engine_options how;
  how.kv = kv;
  how.threads = threads;
  auto on = engine_of(it, how);
  std::vector<sequence_run> all;
  for (std::size_t i = 0; i < it.prompts.size(); ++i)
    all.push_back(sequence_of(it, i, 3));
  for (std::size_t step = 0;; ++step) {
    std::vector<sequence_run*> fed;
    std::vector<slice> batch;
    for (std::size_t i = 0; i < all.size() && i <= step; ++i)
      if (all[i].answer().size() < answer_tokens) {
        fed.push_back(&all[i]);
        batch.push_back(all[i].next(chunk));
      }
    if (batch.empty())
      break;
    REQUIRE(on->run(batch, {}));
    for (auto* one : fed)
      one->take();
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("sequence " << i << " in a batch, chunks of " << chunk);
    check_same(all[i], expected[i]);
  }
}

void check_widths(const subject& it, kv_type kv,
                  const std::vector<sequence_run>& expected) {
  for (const auto* kernels : available()) {
    engine_options how;
    how.kv = kv;
    how.kernels = kernels->name;
    auto on = engine_of(it, how);
    for (std::size_t i : {std::size_t{1}, std::size_t{4}}) {
      INFO(kernels->name << ", sequence " << i);
      auto one = sequence_of(it, i, 4);
      one.run(*on, 32, answer_tokens);
      check_same(one, expected[i]);
    }
  }
}

/// The first blocks of a sequence were computed by another engine, and copied.
void check_warm(const subject& it, kv_type kv,
                const std::vector<sequence_run>& expected) {
  engine_options how;
  how.kv = kv;
  auto from = engine_of(it, how);
  auto to = engine_of(it, how);
  auto source = sequence_of(it, 0, 5);
  source.run(*from, 50, 1);
  auto arena = to->arena();
  for (std::uint32_t reused : {1u, 4u, 6u}) {
    INFO(reused << " blocks reused");
    for (std::uint32_t i = 0; i < reused; ++i)
      std::copy_n(from->arena().base + arena.layout.offset(blocks_of(it, 0, 5)[i], 0),
                  arena.layout.block_bytes(),
                  arena.base + arena.layout.offset(blocks_of(it, 0, 6)[i], 0));
    auto one = sequence_of(it, 0, 6);
    one.begin_at(reused * arena.layout.block_tokens);
    one.run(*to, 1000, answer_tokens);
    auto rows = expected[0].logits();
    rows.erase(rows.begin(), rows.lower_bound(reused * arena.layout.block_tokens));
    CHECK(one.answer() == expected[0].answer());
    CHECK(are_same_bits(one.logits(), rows));
  }
}

void check_matrix(const subject& it) {
  for (auto kv : {kv_type::f16, kv_type::f32}) {
    INFO((kv == kv_type::f16 ? "KV in f16" : "KV in f32"));
    auto expected = run_alone(it, kv);
    check_chunks(it, kv, expected);
    check_company(it, kv, 1, 7, expected);
    check_company(it, kv, 2, 64, expected);
    check_widths(it, kv, expected);
    check_warm(it, kv, expected);
  }
}

TEST_CASE(
  "a llama gives the same bits cold, warm, in chunks, in company, on any width") {
  auto model = load_tiny({});
  REQUIRE(model);
  check_matrix(subject_of(*model));
}

TEST_CASE(
  "a gemma3 gives the same bits cold, warm, in chunks, in company, on any width") {
  auto model = load_tiny(tiny_gemma3());
  REQUIRE(model);
  check_matrix(subject_of(*model));
}

TEST_CASE("weights in floats give the same bits, too") {
  tiny_model how;
  how.type = GENERATE(gguf::tensor_type::f32, gguf::tensor_type::bf16);
  auto model = load_tiny(how);
  REQUIRE(model);
  auto it = subject_of(*model);
  auto expected = run_alone(it, kv_type::f16);
  check_company(it, kv_type::f16, 2, 9, expected);
  check_widths(it, kv_type::f16, expected);
}

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t real_prompt_tokens = 3; // portable kernels are slow enough
#else
constexpr std::size_t real_prompt_tokens = 24;
#endif

TEST_CASE("the default model gives the same bits however it is run") {
  auto path
    = std::string{PERIGEE_SOURCE_DIR} + "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
  if (!std::filesystem::exists(path)) {
    WARN("skipped: there is no " << path << "; tools/fetch_model.sh fetches it");
    return;
  }
  auto model = load(path);
  REQUIRE(model);
  subject it{*model, {}};
  for (std::uint64_t seed : {1, 2})
    it.prompts.push_back(some_prompt(real_prompt_tokens, seed, 40'000));
  auto expected = run_alone(it, kv_type::f16);
  check_company(it, kv_type::f16, 2, 7, expected);
  for (const auto* kernels : available()) {
    INFO(kernels->name);
    engine_options how;
    how.kernels = kernels->name;
    auto on = engine_of(it, how);
    auto one = sequence_of(it, 1, 4);
    one.run(*on, 9, 2);
    CHECK(one.answer()[1] == expected[1].answer()[1]);
    auto last = static_cast<std::uint32_t>(real_prompt_tokens);
    CHECK(one.logits().at(last) == expected[1].logits().at(last));
  }
}

} // namespace
} // namespace perigee::engine::cpu
