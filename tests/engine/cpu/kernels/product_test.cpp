#include "engine/cpu/kernels/kernels.hpp"
#include "engine/cpu/kernels/operand.hpp"
#include "engine/cpu/kernels/packed_matrix.hpp"
#include "tests/engine/cpu/kernels/product_ref.hpp"
#include "tests/engine/cpu/kernels/same_bits.hpp"
#include "tests/engine/gguf/random_weights.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace perigee::engine::cpu {
namespace {

using gguf::every_type;
using gguf::tensor_type;

constexpr float untouched = -12345.0F;

struct matrix_case {
  tensor_type type;
  std::size_t rows;
  std::size_t columns;
  std::vector<std::byte> weights;

  matrix_case(tensor_type as, std::size_t height, std::size_t width,
              std::mt19937& random)
    : type(as), rows(height), columns(width),
      weights(gguf::random_weights(as, height * width, 1.0F, random)) {}

  packed_matrix packed() const {
    return {type, rows, columns, weights.data()};
  }

  std::vector<float> expected(std::span<const float> x) const {
    return product_ref(type, rows, columns, weights, x);
  }
};

std::vector<float> product(const kernel_set& set, const packed_matrix& weights,
                           std::span<const float> x) {
  auto columns = weights.columns();
  auto tokens = x.size() / columns;
  operand room(tokens, columns);
  auto view = room.view(form_of(weights.type()), tokens, columns);
  set.prepare({x.data(), tokens, columns, columns}, view, 0, token_tiles(tokens));
  std::vector<float> y(tokens * weights.rows(), untouched);
  set.product(weights.view(), view, 0, weights.tiles(), {y.data(), weights.rows()});
  return y;
}

// What a type can have: whole blocks, or any number of floats.
std::vector<std::size_t> widths(tensor_type type) {
  switch (gguf::shape_of(type).elements) {
    case 1: return {1, 5, 32, 100};
    case 32: return {32, 96, 288};
    default: return {256, 768};
  }
}

TEST_CASE("every set multiplies weights of every type exactly as the reference does") {
  std::mt19937 random(1);
  for (auto type : every_type)
    for (auto columns : widths(type))
      for (std::size_t rows : {1, 7, 16, 23, 40}) {
        matrix_case it(type, rows, columns, random);
        auto packed = it.packed();
        for (std::size_t tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9, 19}) {
          auto x = random_reals(tokens * columns, 3.0F, random);
          auto expected = it.expected(x);
          for (const auto* set : available()) {
            INFO(set->name << " " << gguf::name_of(type) << " " << rows << " x "
                           << columns << ", " << tokens << " tokens");
            CHECK(same_bits(product(*set, packed, x), expected));
          }
        }
      }
}

TEST_CASE("quants of any value and scales of any sign add up without overflow") {
  for (auto type : every_type) {
    if (gguf::shape_of(type).elements == 1)
      continue;
    std::size_t columns = 256;
    std::mt19937 random(3);
    for (auto filling :
         {std::byte{0xff}, std::byte{0}, std::byte{0x80}, std::byte{0x7f}}) {
      matrix_case it(type, 16, columns, random);
      // All quants alike; the scales, by where each type has them, stay finite.
      auto shape = gguf::shape_of(type);
      auto random_ones = it.weights;
      std::fill(it.weights.begin(), it.weights.end(), filling);
      for (std::size_t at = 0; at < it.weights.size(); at += shape.bytes) {
        auto scale_at = type == tensor_type::q6_k ? at + 208 : at;
        std::copy_n(random_ones.begin() + static_cast<std::ptrdiff_t>(scale_at),
                    type == tensor_type::q6_k ? 2 : 4,
                    it.weights.begin() + static_cast<std::ptrdiff_t>(scale_at));
      }
      for (float sign : {1.0F, -1.0F}) {
        std::vector<float> x(9 * columns, sign);
        auto expected = it.expected(x);
        for (const auto* set : available()) {
          INFO(set->name << " " << gguf::name_of(type));
          CHECK(same_bits(product(*set, it.packed(), x), expected));
        }
      }
    }
  }
}

TEST_CASE("products are close to what exact numbers give") {
  std::mt19937 random(2);
  for (auto type : every_type) {
    std::size_t columns = 512, rows = 32;
    matrix_case it(type, rows, columns, random);
    auto x = random_reals(8 * columns, 1.0F, random);
    auto exact = product_exact(type, rows, columns, it.weights, x);
    auto got = product(fastest(), it.packed(), x);
    double wrong = 0, all = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      wrong += (got[i] - exact[i]) * (got[i] - exact[i]);
      all += exact[i] * exact[i];
    }
    INFO(gguf::name_of(type));
    // int8 has steps of 1/127 of a block's greatest: less than 1/2 % of noise each.
    auto tolerance = form_of(type) == operand_form::floats ? 1e-6 : 8e-3;
    CHECK(std::sqrt(wrong / all) < tolerance);
  }
}

TEST_CASE("a token's product doesn't depend on the tokens beside it") {
  std::mt19937 random(4);
  for (auto type : every_type) {
    matrix_case it(type, 33, 256, random);
    auto packed = it.packed();
    auto x = random_reals(21 * it.columns, 1.0F, random);
    for (const auto* set : available()) {
      auto together = product(*set, packed, x);
      for (std::size_t t = 0; t < 21; ++t) {
        auto alone
          = product(*set, packed, std::span(x).subspan(t * it.columns, it.columns));
        CHECK(same_bits(alone, std::span(together).subspan(t * it.rows, it.rows)));
      }
    }
  }
}

TEST_CASE(
  "tiles may be prepared and multiplied in any parts, and nothing else is written") {
  std::mt19937 random(5);
  for (auto type : {tensor_type::q4_1, tensor_type::f16}) {
    matrix_case it(type, 70, 64, random);
    auto packed = it.packed();
    std::size_t tokens = 19, stride = 80, x_stride = 67;
    auto x = random_reals(tokens * x_stride, 1.0F, random);
    std::vector<float> dense;
    for (std::size_t t = 0; t < tokens; ++t)
      dense.insert(dense.end(), x.begin() + static_cast<std::ptrdiff_t>(t * x_stride),
                   x.begin() + static_cast<std::ptrdiff_t>(t * x_stride + 64));
    auto expected = it.expected(dense);
    for (const auto* set : available()) {
      operand room(tokens, 64);
      auto view = room.view(form_of(type), tokens, 64);
      for (std::size_t tile = token_tiles(tokens); tile-- > 0;)
        set->prepare({x.data(), tokens, 64, x_stride}, view, tile, tile + 1);
      std::vector<float> y(tokens * stride, untouched);
      set->product(packed.view(), view, 3, 5, {y.data(), stride});
      set->product(packed.view(), view, 1, 2, {y.data(), stride});
      for (std::size_t t = 0; t < tokens; ++t)
        for (std::size_t row = 0; row < stride; ++row) {
          auto is_wanted = row < it.rows && row / 16 != 0 && row / 16 != 2;
          CHECK(y[t * stride + row]
                == (is_wanted ? expected[t * it.rows + row] : untouched));
        }
    }
  }
}

TEST_CASE("matrices put below each other give what each gives") {
  std::mt19937 random(6);
  for (auto type : every_type) {
    matrix_case first(type, 32, 256, random), second(type, 20, 256, random);
    aligned_slabs slabs;
    packed_matrix both(type, 52, 256, slabs);
    both.put(32, 20, second.weights.data());
    both.put(0, 32, first.weights.data());
    auto x = random_reals(256, 1.0F, random);
    auto expected = first.expected(x);
    auto more = second.expected(x);
    expected.insert(expected.end(), more.begin(), more.end());
    CHECK(same_bits(product(fastest(), both, x), expected));
  }
}

TEST_CASE("a block with a number that is not finite makes a token's products NaN") {
  std::mt19937 random(7);
  matrix_case it(tensor_type::q5_0, 16, 64, random);
  auto packed = it.packed();
  for (auto bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    auto x = random_reals(128, 1.0F, random);
    x[40] = bad;
    for (const auto* set : available()) {
      auto y = product(*set, packed, x);
      for (std::size_t row = 0; row < 16; ++row) {
        CHECK(std::isnan(y[row]));
        CHECK(std::isfinite(y[16 + row]));
      }
    }
  }
}

TEST_CASE("numbers too small to scale count as zero") {
  std::mt19937 random(8);
  matrix_case it(tensor_type::q8_0, 16, 32, random);
  for (auto tiny : {0.0F, 1e-31F, std::numeric_limits<float>::denorm_min()})
    for (const auto* set : available())
      CHECK(product(*set, it.packed(), std::vector(32, tiny))
            == std::vector<float>(16, 0.0F));
}

TEST_CASE("packed weights take hardly more room than the file's") {
  for (auto type : every_type) {
    packed_matrix it(type, 64, 512);
    auto file = gguf::bytes_of(gguf::shape_of(type), std::size_t{64} * 512);
    CHECK(it.bytes() >= file);
    CHECK(it.bytes() <= file + file / 20);
  }
}

} // namespace
} // namespace perigee::engine::cpu
