#include "engine/cpu/kernels/dequantize.hpp"
#include "engine/cpu/kernels/kernels.hpp"
#include "engine/cpu/layer_kv.hpp"
#include "tests/engine/gguf/random_weights.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace perigee::engine::cpu {
namespace {

constexpr std::uint32_t positions = 600;
constexpr std::uint32_t head_dim = 24;
constexpr std::uint32_t kv_heads = 2;
constexpr std::uint32_t arena_blocks = 80;
constexpr std::size_t group = 3;
constexpr std::uint32_t asked_head = 1;

/// An arena with one sequence in blocks out of order, and NaN wherever it has nothing.
class filled_arena {
public:
  filled_arena(kv_type type, std::uint32_t block_tokens)
    : layout_{2, kv_heads, head_dim, block_tokens, type == kv_type::f16 ? 2u : 4u},
      memory_(arena_blocks * layout_.block_bytes()) {
    std::fill(memory_.begin(), memory_.end(), std::byte{0xff}); // NaN in both types
    std::mt19937 random{7};
    for (std::uint32_t block = arena_blocks; block-- > 0;)
      blocks_.push_back(block * 7 % arena_blocks);
    for (std::uint32_t position = 0; position < positions; ++position)
      for (std::uint32_t head = 0; head < kv_heads; ++head)
        for (std::uint32_t d = 0; d < head_dim; ++d) {
          put(place(position, head, true) + std::size_t{d} * layout_.element_bytes,
              2 * gguf::random_real(random));
          put(place(position, head, false) + std::size_t{d} * layout_.element_bytes,
              gguf::random_real(random));
        }
  }

  layer_kv view() {
    return {{memory_.data(), arena_blocks, layout_}, 1};
  }

  const std::vector<std::uint32_t>& blocks() const {
    return blocks_;
  }

  double get(std::uint32_t position, std::uint32_t head, bool is_key, std::uint32_t d) {
    const auto* at
      = place(position, head, is_key) + std::size_t{d} * layout_.element_bytes;
    if (layout_.element_bytes == 4) {
      float number;
      std::memcpy(&number, at, sizeof number);
      return static_cast<double>(number);
    }
    std::uint16_t half;
    std::memcpy(&half, at, sizeof half);
    return static_cast<double>(half_to_float(half));
  }

private:
  std::byte* place(std::uint32_t position, std::uint32_t head, bool is_key) {
    auto block = blocks_[position / layout_.block_tokens];
    auto token = position % layout_.block_tokens;
    return is_key ? view().key(block, head, token) : view().value(block, head, token);
  }

  void put(std::byte* at, float number) {
    auto half = float_to_half(number);
    if (layout_.element_bytes == 4)
      std::memcpy(at, &number, sizeof number);
    else
      std::memcpy(at, &half, sizeof half);
  }

  kv_layout layout_;
  std::vector<std::byte> memory_;
  std::vector<std::uint32_t> blocks_;
};

std::vector<float> some_queries(std::size_t tokens) {
  std::mt19937 random{3};
  std::vector<float> queries(tokens * group * head_dim);
  for (auto& one : queries)
    one = 3 * gguf::random_real(random);
  return queries;
}

/// What `item` asks for, in chunks of `step` tokens.
std::vector<float> attended(attention_view item, const std::vector<float>& queries,
                            std::size_t step, const kernel_set& kernels = fastest()) {
  constexpr auto width = group * head_dim;
  std::vector<float> out(queries.size());
  std::vector<float> scratch(attention_scratch(item.tokens * group, head_dim));
  item.scratch = scratch.data();
  auto first = item.first_position;
  auto tokens = item.tokens;
  item.query_stride = item.out_stride = width;
  for (std::size_t at = 0; at < tokens; at += step) {
    item.first_position = first + at;
    item.tokens = std::min(step, tokens - at);
    item.queries = queries.data() + at * width;
    item.out = out.data() + at * width;
    kernels.attend(item);
  }
  return out;
}

/// The same by the textbook.
std::vector<double> attended_ref(filled_arena& arena, const attention_view& item,
                                 const std::vector<float>& queries) {
  std::vector<double> out(queries.size());
  for (std::size_t row = 0; row < item.tokens * group; ++row) {
    const auto* query = queries.data() + row * head_dim;
    auto own = static_cast<std::uint32_t>(item.first_position + row / group);
    std::vector<double> weights(own + 1);
    double sum = 0;
    for (std::uint32_t at = 0; at <= own; ++at) {
      double score = 0;
      for (std::uint32_t d = 0; d < head_dim; ++d)
        score += static_cast<double>(query[d]) * arena.get(at, asked_head, true, d);
      bool is_hidden = item.window > 0 && own - at >= item.window;
      weights[at] = is_hidden ? 0 : std::exp(score * static_cast<double>(item.factor));
      sum += weights[at];
    }
    for (std::uint32_t at = 0; at <= own; ++at)
      for (std::uint32_t d = 0; d < head_dim; ++d)
        out[row * head_dim + d]
          += weights[at] / sum * arena.get(at, asked_head, false, d);
  }
  return out;
}

attention_view item_of(filled_arena& arena, std::uint32_t first, std::size_t tokens,
                       std::size_t window) {
  attention_view item;
  item.kv = arena.view().view(arena.blocks(), asked_head);
  item.first_position = first;
  item.tokens = tokens;
  item.group = group;
  item.window = window;
  item.factor = 0.3f;
  return item;
}

TEST_CASE("attention is what the textbook says, and reads nothing that is hidden") {
  auto type = GENERATE(kv_type::f16, kv_type::f32);
  auto block_tokens = GENERATE(8u, 16u, 32u);
  auto window = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{20});
  filled_arena arena{type, block_tokens};
  struct stretch {
    std::uint32_t first;
    std::size_t tokens;
  };
  for (auto [first, count] : {stretch{0, 1}, {0, 40}, {240, 38}, {37, 1}, {590, 10}}) {
    auto item = item_of(arena, first, count, window);
    auto queries = some_queries(count);
    auto expected = attended_ref(arena, item, queries);
    auto out = attended(item, queries, 8);
    INFO("from " << first << ", " << count << " tokens");
    for (std::size_t i = 0; i < out.size(); ++i)
      REQUIRE(static_cast<double>(out[i]) == Approx(expected[i]).margin(2e-6));
  }
}

TEST_CASE("attention gives the same bits in any chunks and on any width") {
  auto window = GENERATE(std::size_t{0}, std::size_t{20});
  filled_arena arena{kv_type::f16, 16};
  auto item = item_of(arena, 225, 70, window);
  auto queries = some_queries(70);
  auto expected = attended(item, queries, 1);
  for (std::size_t step : {3, 8, 70})
    for (const auto* kernels : available())
      CHECK(std::memcmp(attended(item, queries, step, *kernels).data(), expected.data(),
                        expected.size() * sizeof(float))
            == 0);
}

} // namespace
} // namespace perigee::engine::cpu
