#include "engine/cpu/kernels/dequantize.hpp"
#include "engine/cpu/kernels/elementary.hpp"
#include "engine/cpu/kernels/kernels.hpp"
#include "tests/engine/cpu/kernels/same_bits.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <limits>

namespace perigee::engine::cpu {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

using reals = std::vector<float>;

// Runs `body` with each set on a copy of `x`: all must make the same of it.
reals same_on_all(const reals& x,
                  const std::function<void(const kernel_set&, float*)>& body) {
  reals first = x;
  body(*available().front(), first.data());
  for (const auto* set : available()) {
    reals other = x;
    body(*set, other.data());
    INFO(set->name << ", " << x.size() << " numbers");
    CHECK(same_bits(other, first));
  }
  return first;
}

// Ordinary numbers, and those that go wrong most easily.
reals numbers(std::size_t n, std::mt19937& random) {
  auto x = random_reals(n, 30.0F, random);
  constexpr float odd[]{0.0F, -0.0F, 1e-40F, -88.0F, 88.72F, 89.5F, -87.31F, 1e30F};
  for (std::size_t i = 0; i < n; i += 7)
    x[i] = odd[random() % std::size(odd)];
  return x;
}

TEST_CASE("normalising gives the same bits on every set, and mean square one") {
  std::mt19937 random(1);
  for (std::size_t n : {1, 7, 8, 9, 64, 100, 576}) {
    auto x = random_reals(n, 5.0F, random);
    reals ones(n, 1.0F);
    auto out = same_on_all(x, [&](const kernel_set& set, float* it) {
      set.rms_norm(it, ones.data(), n, 1e-6F, it);
    });
    double square = 0;
    for (auto one : out)
      square += double{one} * one;
    CHECK(square / static_cast<double>(n) == Approx(1).epsilon(1e-3));
    auto weights = random_reals(n, 1.0F, random);
    auto weighted = same_on_all(x, [&](const kernel_set& set, float* it) {
      set.rms_norm(it, weights.data(), n, 1e-6F, it);
    });
    for (std::size_t i = 0; i < n; ++i)
      CHECK(weighted[i] == out[i] * weights[i]);
  }
}

TEST_CASE("adding and scaling go element by element") {
  std::mt19937 random(2);
  for (std::size_t n : {1, 5, 16, 33, 100}) {
    auto x = numbers(n, random);
    auto y = numbers(n, random);
    auto sum = same_on_all(
      x, [&](const kernel_set& set, float* it) { set.add(it, y.data(), n); });
    auto scaled = same_on_all(
      x, [&](const kernel_set& set, float* it) { set.scale(it, 0.3F, n); });
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(sum[i] == x[i] + y[i]);
      CHECK(scaled[i] == x[i] * 0.3F);
    }
  }
}

TEST_CASE("activations give the same bits on every set, and are near the exact ones") {
  std::mt19937 random(3);
  for (std::size_t n : {1, 6, 8, 31, 128, 1001}) {
    auto gate = numbers(n, random);
    auto up = random_reals(n, 2.0F, random);
    auto silu = same_on_all(gate, [&](const kernel_set& set, float* it) {
      set.silu_product(it, up.data(), n, it);
    });
    auto gelu = same_on_all(gate, [&](const kernel_set& set, float* it) {
      set.gelu_product(it, up.data(), n, it);
    });
    for (std::size_t i = 0; i < n; ++i) {
      double x = gate[i];
      auto margin = 2e-6 * std::fabs(x * up[i]) + 1e-30;
      CHECK(silu[i] == Approx(x / (1 + std::exp(-x)) * up[i]).margin(margin));
      auto inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
      CHECK(gelu[i] == Approx(0.5 * x * (1 + std::tanh(inner)) * up[i]).margin(margin));
    }
  }
}

TEST_CASE("a rotation keeps lengths, and pairs are adjacent or halves apart") {
  std::mt19937 random(4);
  for (std::size_t pairs : {1, 4, 11, 32, 128}) {
    auto x = random_reals(2 * pairs, 1.0F, random);
    reals cosine(pairs), sine(pairs);
    for (std::size_t i = 0; i < pairs; ++i) {
      cosine[i] = static_cast<float>(cos_of(static_cast<double>(i)));
      sine[i] = static_cast<float>(sin_of(static_cast<double>(i)));
    }
    auto adjacent = same_on_all(x, [&](const kernel_set& set, float* it) {
      set.rope_adjacent(it, cosine.data(), sine.data(), pairs);
    });
    auto halves = same_on_all(x, [&](const kernel_set& set, float* it) {
      set.rope_halves(it, cosine.data(), sine.data(), pairs);
    });
    for (std::size_t i = 0; i < pairs; ++i) {
      CHECK(adjacent[2 * i] == x[2 * i] * cosine[i] - x[2 * i + 1] * sine[i]);
      CHECK(adjacent[2 * i + 1] == x[2 * i] * sine[i] + x[2 * i + 1] * cosine[i]);
      CHECK(halves[i] == x[i] * cosine[i] - x[i + pairs] * sine[i]);
      CHECK(halves[i + pairs] == x[i] * sine[i] + x[i + pairs] * cosine[i]);
    }
  }
}

TEST_CASE("every half becomes the float that it is, and that becomes the half again") {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i)
    halves[i] = static_cast<std::uint16_t>(i);
  for (const auto* set : available()) {
    INFO(set->name);
    reals wide(halves.size());
    set->from_f16(halves.data(), halves.size(), wide.data());
    std::vector<std::uint16_t> back(halves.size());
    set->to_f16(wide.data(), wide.size(), back.data());
    for (std::size_t i = 0; i < halves.size(); ++i) {
      auto is_nan = (i & 0x7fff) > 0x7c00;
      if (std::bit_cast<std::uint32_t>(wide[i])
            != std::bit_cast<std::uint32_t>(half_to_float(halves[i]))
          || std::isnan(wide[i]) != is_nan || (!is_nan && back[i] != halves[i])
          || back[i] != float_to_half(wide[i]))
        FAIL_CHECK("half " << i);
    }
  }
  CHECK(half_to_float(0x3c00) == 1.0F);
  CHECK(half_to_float(0x0001) == 0x1p-24F);
  CHECK(half_to_float(0xfbff) == -65504.0F);
}

TEST_CASE("floats become the nearest half, the even one of two") {
  CHECK(float_to_half(1.0F + 0x1p-11F) == 0x3c00);
  CHECK(float_to_half(1.0F + 0x1.8p-10F) == 0x3c02);
  CHECK(float_to_half(65519.0F) == 0x7bff);
  CHECK(float_to_half(65520.0F) == 0x7c00);
  CHECK(float_to_half(0x1p-25F) == 0);
  CHECK(float_to_half(0x1.000002p-25F) == 1);
  CHECK(float_to_half(-0.0F) == 0x8000);
  std::mt19937 random(6);
  for (std::size_t n : {1, 7, 8, 20000}) {
    reals x(n);
    for (auto& one : x)
      one = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    // More often of a size that halves have.
    for (std::size_t i = 0; n > 8 && i < n; i += 2)
      x[i] = random_reals(1, 1e-6F, random)[0] * static_cast<float>(1 << random() % 30);
    for (const auto* set : available()) {
      INFO(set->name);
      std::vector<std::uint16_t> got(n);
      set->to_f16(x.data(), n, got.data());
      for (std::size_t i = 0; i < n; ++i)
        if (got[i] != float_to_half(x[i]))
          FAIL_CHECK(x[i]);
    }
  }
}

TEST_CASE("available sets have names, the portable one first") {
  CHECK(available().front()->name == std::string("portable"));
  for (const auto* set : available())
    CHECK(kernels_named(set->name) == set);
  CHECK(&fastest() == available().back());
  CHECK(kernels_named("neon") == nullptr);
}

} // namespace
} // namespace perigee::engine::cpu
