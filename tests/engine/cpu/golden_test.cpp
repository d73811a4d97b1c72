// Against llama.cpp, whose values lie in tests/engine/golden.
//
// Both engines round activations to eight bits, but not alike: llama.cpp keeps their
// scales in F16, and rounds halves away from zero. Each is about as far from what the
// weights say in exact arithmetic as they are from each other: on the default model a
// mean of 0.1 to 0.2 in the logarithm of a probability, over the 64 likeliest tokens.
// Where nothing is rounded, with F32 weights and KV, they agree to 0.001.
//
// So a token is right if it is llama.cpp's, or a near tie by llama.cpp's own numbers.
#include "tests/engine/golden/golden.hpp"

#include "engine/cpu/cpu_engine.hpp"
#include "engine/sampling/score.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace perigee::engine::cpu {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t answer_tokens_max = 2; // several times slower
constexpr std::size_t prompts_max = 2;
#else
constexpr std::size_t answer_tokens_max = 200;
constexpr std::size_t prompts_max = 100;
#endif

struct tolerance {
  double mean = 0;  ///< Of a prompt's log-probabilities.
  double worst = 0; ///< Of any.
  double tie = 0;   ///< What another choice may cost by llama.cpp's numbers.
};

/// Compares rows of logits with what llama.cpp gave at the same positions.
class comparison {
public:
  comparison(const golden::prompt& with, tolerance allowed)
    : with_{with}, allowed_{allowed} {}

  void take(std::uint32_t position, std::span<const float> logits) {
    const auto& prompt = with_.likeliest;
    const auto& likeliest = position < prompt.size()
                              ? prompt[position]
                              : with_.greedy_likeliest.at(position - prompt.size() + 1);
    auto ours = score(logits, likeliest.front().token, 1);
    auto whole = ours.logprob - logits[likeliest.front().token];
    auto choice = ours.top.front().token;
    for (const auto& theirs : likeliest) {
      auto apart = std::abs(static_cast<double>(logits[theirs.token] + whole)
                            - static_cast<double>(theirs.logprob));
      if (position < prompt.size()) {
        sum_ += apart;
        ++count_;
      }
      worst_ = std::max(worst_, apart);
    }
    if (choice != likeliest.front().token)
      check_tie(position, choice, likeliest);
  }

  void check() const {
    INFO(with_.name << ": mean " << sum_ / count_ << ", worst " << worst_ << ", "
                    << ties_ << " near ties broken otherwise");
    CHECK(sum_ / count_ <= allowed_.mean);
    CHECK(worst_ <= allowed_.worst);
  }

private:
  void check_tie(std::uint32_t position, token_id choice,
                 const golden::scored_tokens& likeliest) {
    auto it = std::find_if(likeliest.begin(), likeliest.end(),
                           [&](const auto& one) { return one.token == choice; });
    INFO(with_.name << ", position " << position << ": token " << choice << ", not "
                    << likeliest.front().token);
    REQUIRE(it != likeliest.end());
    CHECK(static_cast<double>(likeliest.front().logprob - it->logprob) <= allowed_.tie);
    ++ties_;
  }

  const golden::prompt& with_;
  tolerance allowed_;
  double sum_ = 0;
  double count_ = 0;
  double worst_ = 0;
  int ties_ = 0;
};

/// Runs every prompt with llama.cpp's greedy answer behind it, so that both engines
/// have read the same before each token.
void compare(const std::string& file, const golden::model& with, tolerance allowed,
             kv_type kv = kv_type::f16) {
  auto model = load(file);
  if (!model)
    FAIL(model.error().text());
  engine_options how;
  how.arena_blocks = 64;
  how.kv = kv;
  how.threads = 2;
  auto on = make_engine(*model, how);
  REQUIRE(on);
  std::vector<std::uint32_t> blocks(how.arena_blocks);
  std::iota(blocks.begin(), blocks.end(), 0u);
  for (std::size_t i = 0; i < std::min(prompts_max, with.prompts.size()); ++i) {
    const auto& prompt = with.prompts[i];
    auto fed = prompt.tokens;
    auto answer_tokens = std::min(answer_tokens_max, prompt.greedy.size());
    fed.insert(fed.end(), prompt.greedy.begin(),
               prompt.greedy.begin() + static_cast<std::ptrdiff_t>(answer_tokens) - 1);
    comparison one{prompt, allowed};
    slice part{
      fed,     0,
      blocks,  nullptr,
      nullptr, [&](auto position, auto logits) { one.take(position, logits); }};
    REQUIRE((*on)->run({&part, 1}, {}));
    one.check();
  }
}

void compare_real(const std::string& name, const std::string& golden_file,
                  tolerance allowed) {
  auto file = std::string{PERIGEE_SOURCE_DIR} + "/models/" + name;
  if (!std::filesystem::exists(file)) {
    WARN("skipped: there is no models/" << name << "; tools/fetch_model.sh fetches it");
    return;
  }
  compare(file, golden::read_model(golden_file), allowed);
}

TEST_CASE("the default model's probabilities and greedy tokens are llama.cpp's") {
  compare_real("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2.golden", {0.25, 3, 0.6});
}

TEST_CASE("Gemma 3's probabilities and greedy tokens are llama.cpp's") {
  compare_real("gemma-3-270m-Q4_K_M.gguf", "gemma3.golden", {0.4, 6, 0.6});
}

void compare_tiny(const std::string& name, tolerance allowed,
                  kv_type kv = kv_type::f16) {
  INFO(name);
  compare(std::string{PERIGEE_SOURCE_DIR} + "/tests/engine/golden/tiny/" + name
            + ".gguf",
          golden::read_model("tiny/" + name + ".golden"), allowed, kv);
}

TEST_CASE(
  "where nothing is rounded, probabilities are llama.cpp's to the third digit") {
  compare_tiny("f32", {0.002, 0.02, 0.005}); // but for KV, which is F16 in both
}

TEST_CASE("weights in 16 bits give llama.cpp's probabilities") {
  compare_tiny("f16", {0.005, 0.05, 0.02}); // llama.cpp rounds activations as well
  compare_tiny("bf16", {0.03, 0.2, 0.05});
}

TEST_CASE("every quantized type gives llama.cpp's probabilities") {
  for (const char* name :
       {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k", "q5_k", "q6_k"})
    compare_tiny(name, {0.12, 1, 0.3});
}

TEST_CASE("other forms of models give llama.cpp's probabilities") {
  compare_tiny("untied", {0.08, 0.6, 0.2});
  compare_tiny("gemma3", {0.12, 1, 0.3});
}

} // namespace
} // namespace perigee::engine::cpu
