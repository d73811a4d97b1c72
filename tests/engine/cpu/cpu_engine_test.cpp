#include "engine/cpu/cpu_engine.hpp"

#include "tests/engine/cpu/sequence_run.hpp"
#include "tests/engine/cpu/tiny_model.hpp"

#include <numeric>

namespace perigee::engine::cpu {
namespace {

std::shared_ptr<const weights> tiny() {
  static auto model = load_tiny({});
  REQUIRE(model);
  return *model;
}

std::unique_ptr<engine> tiny_engine(engine_options how = {}) {
  how.arena_blocks = 8;
  auto made = make_engine(tiny(), how);
  REQUIRE(made);
  return std::move(*made);
}

TEST_CASE("an arena has the model's layout and the options' size") {
  engine_options how;
  how.kv = kv_type::f32;
  how.block_tokens = 32;
  auto one = tiny_engine(how);
  auto arena = one->arena();
  CHECK(arena.layout == kv_layout{3, 2, 16, 32, 4});
  CHECK(arena.layout == layout_of(*tiny(), how));
  CHECK(arena.blocks == 8);
  REQUIRE(arena.base != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(arena.base) % 64 == 0);
  CHECK(one->model().digest == tiny()->info.digest);
}

TEST_CASE("options that can't be are refused by name") {
  engine_options how;
  std::string option;
  SECTION("threads") {
    option = "threads", how.threads = 0;
  }
  SECTION("many threads") {
    option = "threads", how.threads = 10'000;
  }
  SECTION("blocks") {
    option = "arena_blocks", how.arena_blocks = 0;
  }
  SECTION("more blocks than memory") {
    option = "arena_blocks", how.arena_blocks = 1u << 30;
  }
  SECTION("block size") {
    option = "block_tokens", how.block_tokens = 0;
  }
  SECTION("batch") {
    option = "batch_tokens_max", how.batch_tokens_max = 1u << 30;
  }
  SECTION("kernels") {
    option = "kernels", how.kernels = "mmx";
  }
  auto made = make_engine(tiny(), how);
  REQUIRE_FALSE(made);
  CHECK(made.error().option == option);
  CHECK(made.error().expected.find("found") != std::string::npos);
}

TEST_CASE("each layer is asked for, and told of once its KV is in the arena") {
  auto one = tiny_engine();
  auto arena = one->arena();
  tokens prompt(20);
  std::iota(prompt.begin(), prompt.end(), 5u);
  block_table blocks{3, 6};
  auto is_written = [&](std::uint32_t block, std::uint32_t layer) {
    const auto* begin = arena.base + arena.layout.offset(block, layer);
    return std::any_of(begin, begin + arena.layout.layer_bytes(),
                       [](std::byte b) { return b != std::byte{}; });
  };
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> after;
  layer_hooks hooks{[&](std::uint32_t layer) {
                      CHECK(before.size() == after.size());
                      CHECK_FALSE(is_written(6, layer));
                      before.push_back(layer);
                      return true;
                    },
                    [&](std::uint32_t layer) {
                      CHECK(is_written(3, layer));
                      CHECK(is_written(6, layer));
                      after.push_back(layer);
                    }};
  slice part{prompt, 0, blocks, nullptr, nullptr, {}};
  REQUIRE(one->run({&part, 1}, hooks));
  CHECK(before == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(after == before);
  CHECK_FALSE(is_written(4, 0));
}

TEST_CASE("a hook's no stops the run, and the engine may be used on") {
  auto one = tiny_engine();
  tokens prompt{1, 2, 3};
  block_table blocks{0};
  slice part{prompt, 0, blocks, nullptr, nullptr, {}};
  auto run = one->run({&part, 1}, {[](std::uint32_t layer) { return layer < 2; }, {}});
  REQUIRE_FALSE(run);
  CHECK(run.error() == run_fault::starved);
  sequence_run again{prompt, blocks, {}};
  again.run(*one, 8, 3);
  sequence_run fresh{prompt, blocks, {}};
  fresh.run(*tiny_engine(), 8, 3);
  CHECK(are_same_bits(again.logits(), fresh.logits()));
}

TEST_CASE("a batch that can't be right is refused") {
  engine_options how;
  how.batch_tokens_max = 16;
  auto one = tiny_engine(how);
  tokens prompt(16, 1);
  block_table blocks{0, 1};
  slice part{prompt, 0, blocks, nullptr, nullptr, {}};
  SECTION("a token outside the vocabulary") {
    prompt[3] = 150;
  }
  SECTION("a block outside the arena") {
    blocks[0] = 8;
  }
  SECTION("more positions than blocks") {
    part.first_position = 17;
  }
  SECTION("no tokens") {
    part.tokens = {};
  }
  auto run = one->run({&part, 1}, {});
  REQUIRE_FALSE(run);
  CHECK(run.error() == run_fault::bad_batch);
}

TEST_CASE("an empty batch is done at once") {
  CHECK(tiny_engine()->run({}, {}));
}

TEST_CASE("logits come for every token, whether something is drawn or not") {
  auto one = tiny_engine();
  tokens prompt{9, 8, 7, 6, 5};
  block_table blocks{2};
  std::vector<std::uint32_t> positions;
  slice part{prompt, 0, blocks, nullptr, nullptr, [&](auto position, auto logits) {
               CHECK(logits.size() == 150);
               positions.push_back(position);
             }};
  REQUIRE(one->run({&part, 1}, {}));
  CHECK(positions == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
}

} // namespace
} // namespace perigee::engine::cpu
