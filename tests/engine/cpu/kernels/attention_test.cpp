#include "engine/cpu/kernels/dequantize.hpp"
#include "engine/cpu/kernels/kernels.hpp"
#include "tests/engine/cpu/kernels/same_bits.hpp"

#include <catch2/catch.hpp>

namespace perigee::engine::cpu {
namespace {

using reals = std::vector<float>;

// Keys or values, in both types; what halves can't say is rounded away in both.
struct kv_case {
  std::vector<std::uint16_t> halves;
  reals floats;

  kv_case(std::size_t n, std::mt19937& random) : floats(random_reals(n, 2.0F, random)) {
    for (auto& one : floats) {
      halves.push_back(float_to_half(one));
      one = half_to_float(halves.back());
    }
  }

  const void* as(kv_type type) const {
    return type == kv_type::f16 ? static_cast<const void*>(halves.data())
                                : static_cast<const void*>(floats.data());
  }
};

float score_ref(const float* query, const float* key, std::size_t dim, float factor) {
  float lane[8] = {};
  for (std::size_t d = 0; d < dim; ++d)
    lane[d % 8] += query[d] * key[d];
  auto sum = ((lane[0] + lane[1]) + (lane[2] + lane[3]))
             + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  return sum * factor;
}

TEST_CASE("scores add up in eight lanes, on every set and of both types") {
  std::mt19937 random(1);
  constexpr float untouched = -1.0F;
  for (std::size_t dim : {8, 64, 80, 256})
    for (std::size_t count : {1, 2, 3, 4, 5, 9})
      for (std::size_t tokens : {1, 3, 4, 6, 16}) {
        auto queries = random_reals(count * (dim + 3), 1.0F, random);
        kv_case keys(tokens * dim, random);
        std::size_t stride = 20;
        reals expected(count * stride, untouched);
        for (std::size_t q = 0; q < count; ++q)
          for (std::size_t t = 0; t < tokens; ++t)
            expected[q * stride + t]
              = score_ref(queries.data() + q * (dim + 3), keys.floats.data() + t * dim,
                          dim, 0.125F);
        for (const auto* set : available())
          for (auto type : {kv_type::f16, kv_type::f32}) {
            reals out(count * stride, untouched);
            set->scores({queries.data(), count, dim, dim + 3}, keys.as(type), type,
                        tokens, 0.125F, {out.data(), stride});
            INFO(set->name << ", " << count << " queries of " << dim << ", " << tokens
                           << " keys");
            CHECK(same_bits(out, expected));
          }
      }
}

TEST_CASE("values are mixed token after token, on every set and of both types") {
  std::mt19937 random(2);
  for (std::size_t dim : {8, 64, 88, 256})
    for (std::size_t count : {1, 2, 3, 4, 5, 9})
      for (std::size_t tokens : {1, 3, 16}) {
        auto weights = random_reals(count * 20, 1.0F, random);
        kv_case values(tokens * dim, random);
        auto before = random_reals(count * (dim + 5), 1.0F, random);
        auto expected = before;
        for (std::size_t q = 0; q < count; ++q)
          for (std::size_t t = 0; t < tokens; ++t)
            for (std::size_t d = 0; d < dim; ++d)
              expected[q * (dim + 5) + d]
                += weights[q * 20 + t] * values.floats[t * dim + d];
        for (const auto* set : available())
          for (auto type : {kv_type::f16, kv_type::f32}) {
            auto out = before;
            set->mix({weights.data(), count, tokens, 20}, values.as(type), type, dim,
                     {out.data(), dim + 5});
            INFO(set->name << ", " << count << " queries of " << dim << ", " << tokens
                           << " values");
            CHECK(same_bits(out, expected));
          }
      }
}

TEST_CASE("mixing block by block is mixing all at once") {
  std::mt19937 random(3);
  std::size_t dim = 64, tokens = 48;
  auto weights = random_reals(2 * tokens, 1.0F, random);
  kv_case values(tokens * dim, random);
  reals whole(2 * dim), parts(2 * dim);
  const auto& set = fastest();
  set.mix({weights.data(), 2, tokens, tokens}, values.halves.data(), kv_type::f16, dim,
          {whole.data(), dim});
  for (std::size_t at = 0; at < tokens; at += 16)
    set.mix({weights.data() + at, 2, 16, tokens}, values.halves.data() + at * dim,
            kv_type::f16, dim, {parts.data(), dim});
  CHECK(same_bits(parts, whole));
}

} // namespace
} // namespace perigee::engine::cpu
