#include "apps/perigee/model.hpp"

#include "apps/perigee/serving.hpp"
#include "tests/engine/cpu/tiny_model.hpp"

#include <catch2/catch.hpp>
#include <spdlog/logger.h>

namespace perigee::app {
namespace {

/// As SmolLM2-135M has it: 23,040 bytes of KV a token.
model small_model() {
  model of;
  of.info.layers = 30;
  of.info.context_tokens_max = 8192;
  of.layout = {30, 3, 64, 16, 2};
  return of;
}

TEST_CASE("the context is what model, topology and the smallest arena allow") {
  auto of = small_model();
  auto all = cluster::laptop("m.gguf");
  all.nodes[0].prefill_groups[0].arena = cluster::byte_size{1ull << 30};
  all.nodes[0].decode_instances[0].arena = cluster::byte_size{1ull << 30};
  CHECK(context_tokens(all, of) == 8192);
  all.model.context_tokens_max = 1000;
  CHECK(context_tokens(all, of) == 1000);
  all.nodes[0].decode_instances[0].arena.bytes = 10 * of.layout.block_bytes() + 1;
  CHECK(context_tokens(all, of) == 160);
  all.nodes[0].prefill_groups[0].arena.bytes = of.layout.block_bytes() - 1;
  CHECK(context_tokens(all, of) == 0);
}

TEST_CASE("the conductor's costs are the topology's, in its units") {
  cluster::cost_settings from;
  from.prefill_fixed_ms = 44.7;
  from.prefill_token_us = 110.5;
  from.prefill_pair_ns = 0.75;
  from.decode_fixed_ms = 26.3;
  from.decode_sequence_us = 100;
  from.decode_kv_token_ns = 35;
  from.transfer_fixed_us = 5;
  from.transfer_gib_per_s = 80;
  auto cost = to_cost_model(from, small_model());
  CHECK_FALSE(conductor::find_fault(cost));
  CHECK(cost.kv_token_bytes == 23040);
  using std::chrono::nanoseconds;
  CHECK(cost.prefill.time(1000, 0) == nanoseconds{44'700'000 + 110'500'000 + 750'000});
  CHECK(cost.decode.step_time(2, 1000) == nanoseconds{26'300'000 + 200'000 + 35'000});
  CHECK(cost.link.time(80ull << 30) == nanoseconds{1'000'005'000});
}

TEST_CASE("a tokenizer with more tokens than the embedding has rows is refused") {
  namespace gguf = engine::gguf;
  engine::cpu::tiny_model how;
  how.vocabulary = 3;
  how.more = [](gguf::gguf_writer& to) {
    to.text("tokenizer.ggml.model", "llama");
    to.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "a"});
    to.array<float>("tokenizer.ggml.scores", gguf::value_type::f32, {0, 0, 0, -1});
    to.array<std::int32_t>("tokenizer.ggml.token_type", gguf::value_type::i32,
                           {2, 3, 3, 1});
  };
  auto path = std::filesystem::temp_directory_path()
              / ("perigee-model-test-" + std::to_string(::getpid()) + ".gguf");
  engine::cpu::tiny_model_writer{how}.write().save(path.string());
  spdlog::logger quiet{"quiet"};
  auto loaded = load_model(cluster::laptop(path.string()), quiet);
  std::filesystem::remove(path);
  REQUIRE_FALSE(loaded);
  CHECK_THAT(loaded.error(),
             Catch::Contains("tokenizer.ggml.tokens: expected at most 3, the rows of "
                             "token_embd.weight; there are 4"));
}

} // namespace
} // namespace perigee::app
