#include "engine/cpu/model_shape.hpp"

#include "tests/engine/cpu/tiny_model.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace perigee::engine::cpu {
namespace {

/// Reads a tiny model's shape, which asks for no tensor but the embeddings.
gguf::found<model_shape> shape_of(tiny_model how) {
  static std::vector<std::byte> bytes; // what comes back has views into it
  how.warp = [](const std::string& name, auto& extents) {
    if (name != "token_embd.weight")
      extents.clear();
  };
  bytes = tiny_model_writer{how}.write().bytes();
  auto file = gguf::contents::read(bytes, "models/tiny.gguf");
  REQUIRE(file);
  return read_model_shape(*file);
}

void check_refused(const gguf::found<model_shape>& shape, gguf::file_fault code,
                   const std::string& where) {
  REQUIRE_FALSE(shape);
  CHECK(shape.error().code == code);
  CHECK(shape.error().where.find(where) != std::string::npos);
  CHECK(shape.error().where.find("models/tiny.gguf") != std::string::npos);
}

TEST_CASE("a llama's shape is what its file says") {
  auto shape = shape_of({});
  REQUIRE(shape);
  CHECK(shape->kind == architecture::llama);
  CHECK(shape->name == "tiny");
  CHECK(shape->layers == 3);
  CHECK(shape->query_width() == 64);
  CHECK(shape->kv_width() == 32);
  CHECK(shape->vocabulary == 150);
  CHECK(shape->context_tokens_max == 512);
  CHECK(shape->rope.base == 50'000);
  CHECK(shape->rope_dimensions == 16);
  CHECK(shape->query_scale == 0.25f);
  CHECK(shape->embedding_scale == 1);
  CHECK_FALSE(shape->is_windowed(0));
}

TEST_CASE("a gemma3 scales its embeddings, and sees everything in each sixth layer") {
  auto shape = shape_of(tiny_gemma3());
  REQUIRE(shape);
  CHECK(shape->kind == architecture::gemma3);
  CHECK(shape->embedding_scale == 8);
  CHECK(shape->query_scale == 1.0f / std::sqrt(32.0f));
  CHECK(shape->window == 24);
  for (std::size_t layer = 0; layer < 7; ++layer)
    CHECK(shape->is_windowed(layer) == (layer != 5));
  CHECK(shape->rope.base == 50'000);
  CHECK(shape->rope_windowed.base == 10'000);
}

TEST_CASE(
  "a context that is stretched linearly divides positions, but not in windows") {
  auto how = tiny_gemma3();
  how.more = [](auto& to) {
    to.text("gemma3.rope.scaling.type", "linear");
    to.real("gemma3.rope.scaling.factor", 8);
  };
  auto shape = shape_of(how);
  REQUIRE(shape);
  CHECK(shape->rope.divisor == 8);
  CHECK(shape->rope_windowed.divisor == 1);
}

TEST_CASE("an architecture that isn't run is refused by name") {
  tiny_model how;
  how.architecture = "qwen2";
  auto shape = shape_of(how);
  check_refused(shape, gguf::file_fault::unsupported, "general.architecture");
  CHECK(shape.error().expected.find("qwen2") != std::string::npos);
}

TEST_CASE("forms of an architecture that aren't run are refused by their key") {
  tiny_model how;
  std::string key;
  SECTION("experts") {
    key = "llama.expert_count";
    how.more = [&](auto& to) { to.number(key, 8); };
  }
  SECTION("another stretching of the context") {
    key = "llama.rope.scaling.type";
    how.more = [&](auto& to) { to.text(key, "yarn"); };
  }
  SECTION("turning more than a head") {
    key = "llama.rope.dimension_count";
    how.more = [&](auto& to) { to.number(key, 18); };
  }
  SECTION("heads that the kernels can't take") {
    key = "llama.attention.key_length";
    how.head_dim = 12;
  }
  SECTION("query heads that don't share KV heads evenly") {
    key = "llama.attention.head_count_kv";
    how.kv_heads = 3;
  }
  check_refused(shape_of(how), gguf::file_fault::unsupported, key);
}

TEST_CASE("numbers out of their range are refused by their key") {
  tiny_model how;
  std::string key;
  SECTION("no layers") {
    key = "block_count", how.layers = 0;
  }
  SECTION("too many") {
    key = "context_length";
    how.context = 1u << 30;
  }
  SECTION("no heads") {
    key = "attention.head_count", how.heads = 0;
  }
  SECTION("a factor that is no number") {
    key = "rope.scaling.factor";
    how.more = [](auto& to) {
      to.text("llama.rope.scaling.type", "linear");
      to.real("llama.rope.scaling.factor", std::nanf(""));
    };
  }
  check_refused(shape_of(how), gguf::file_fault::malformed, "llama." + key);
}

TEST_CASE("a key that is missing or of another type is named") {
  auto how = tiny_gemma3();
  how.architecture = "llama"; // has no window
  CHECK(shape_of(how));
  how = tiny_gemma3();
  how.more = [](auto& to) { to.text("gemma3.rope.freq_base_swa", "ten"); };
  check_refused(shape_of(how), gguf::file_fault::wrong_type, "rope.freq_base_swa");
}

} // namespace
} // namespace perigee::engine::cpu
