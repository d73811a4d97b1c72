#include "engine/cpu/weights.hpp"

#include "engine/cpu/numeric_profile.hpp"
#include "tests/engine/cpu/tiny_model.hpp"

#include <catch2/catch.hpp>

namespace perigee::engine::cpu {
namespace {

TEST_CASE("a model's matrices are packed, those of one type together") {
  auto model = load_tiny({});
  REQUIRE(model);
  const auto& layer = (*model)->layers.at(2);
  CHECK(layer.query_key_value.rows() == 128);
  CHECK(layer.query_key_value.parts().size() == 2); // the values are Q8_0
  CHECK(layer.gate_up.parts().size() == 1);
  CHECK(layer.gate_up.rows() == 192);
  CHECK(layer.query_norm.empty());
  CHECK((*model)->output.rows() == 150);
  std::size_t of_layer = 64 * 128 + 64 * 64 + 64 * 192 + 96 * 64;
  CHECK((*model)->multiply_adds() == 3 * of_layer + std::size_t{64} * 150);
  CHECK((*model)->bytes() > (*model)->multiply_adds() / 2);
}

TEST_CASE("what the rest of the tree needs to know of a model is there") {
  auto model = load_tiny(tiny_gemma3());
  REQUIRE(model);
  const auto& info = (*model)->info;
  CHECK(info.name == "tiny");
  CHECK(info.architecture == "gemma3");
  CHECK(info.layers == 7);
  CHECK(info.kv_heads == 1);
  CHECK(info.head_dim == 32);
  CHECK(info.vocabulary == 150);
  CHECK(info.context_tokens_max == 512);
}

TEST_CASE("the digest differs by a weight, and from that of the file alone") {
  auto one = load_tiny({});
  auto same = load_tiny({});
  tiny_model other;
  other.seed = 2;
  auto another = load_tiny(other);
  REQUIRE((one && same && another));
  CHECK((*one)->info.digest == (*same)->info.digest);
  CHECK((*one)->info.digest != (*another)->info.digest);
  CHECK((*one)->info.digest != (*one)->file->digest());
}

TEST_CASE("progress goes up to all bytes of the tensors") {
  std::size_t last = 0;
  std::size_t total = 0;
  auto path = std::filesystem::temp_directory_path()
              / ("perigee-progress-" + std::to_string(::getpid()) + ".gguf");
  tiny_model_writer{{}}.write().save(path.string());
  auto model = load(path.string(), [&](std::size_t done, std::size_t of) {
    CHECK(done > last);
    last = done;
    total = of;
  });
  std::filesystem::remove(path);
  REQUIRE(model);
  CHECK(last > 0);
  CHECK(last == total);
}

TEST_CASE("a tensor of another shape is named, with both shapes") {
  tiny_model how;
  how.warp = [](const std::string& name, auto& extents) {
    if (name == "blk.1.attn_k.weight")
      extents = {64, 48};
  };
  auto model = load_tiny(how);
  REQUIRE_FALSE(model);
  CHECK(model.error().where.find("blk.1.attn_k.weight") != std::string::npos);
  CHECK(model.error().text().find("64 x 32") != std::string::npos);
  CHECK(model.error().text().find("64 x 48") != std::string::npos);
}

TEST_CASE("a tensor that is missing is named") {
  auto name
    = GENERATE(std::string{"blk.2.ffn_norm.weight"}, std::string{"output_norm.weight"},
               std::string{"token_embd.weight"});
  tiny_model how;
  how.warp = [&](const std::string& it, auto& extents) {
    if (it == name)
      extents.clear();
  };
  auto model = load_tiny(how);
  REQUIRE_FALSE(model);
  CHECK(model.error().code == gguf::file_fault::missing);
  CHECK(model.error().text().find(name) != std::string::npos);
}

TEST_CASE("a tensor that the architecture doesn't have is refused, not ignored") {
  tiny_model how;
  how.more = [](auto& to) {
    to.tensor("blk.0.attn_q.bias", gguf::tensor_type::f32, {64},
              std::vector<std::byte>(256));
  };
  auto model = load_tiny(how);
  REQUIRE_FALSE(model);
  CHECK(model.error().code == gguf::file_fault::unsupported);
  CHECK(model.error().where.find("blk.0.attn_q.bias") != std::string::npos);
}

TEST_CASE("rope factors are taken where a llama has them") {
  tiny_model how;
  how.more = [](auto& to) {
    std::vector<float> factors{1, 2, 3, 4, 5, 6, 7, 8};
    to.tensor("rope_freqs.weight", gguf::tensor_type::f32, {8},
              std::as_bytes(std::span{factors}));
  };
  auto model = load_tiny(how);
  REQUIRE(model);
  CHECK((*model)->rope_factors.at(7) == 8);
}

TEST_CASE("a file that isn't there is named") {
  auto model = load("no/such/model.gguf");
  REQUIRE_FALSE(model);
  CHECK(model.error().text().find("no/such/model.gguf") != std::string::npos);
}

} // namespace
} // namespace perigee::engine::cpu
