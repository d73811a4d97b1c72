// Vectors in plain C++. The others do the same, bit for bit.
#include "engine/cpu/kernels/kernel_table.hpp"

namespace perigee::engine::cpu {
namespace {

PERIGEE_INLINE float half_lane(std::uint16_t half) {
  auto rest = static_cast<std::int32_t>(half & 0x7fff);
  auto sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  // As a number of steps of 2^-24 if subnormal; by its bits otherwise.
  auto small = __builtin_bit_cast(std::uint32_t, static_cast<float>(rest) * 0x1p-24F);
  auto normal = (static_cast<std::uint32_t>(rest) << 13) + ((127u - 15u) << 23);
  auto huge = normal + ((127u - 15u) << 23);
  auto bits = rest < 0x400 ? small : rest < 0x7c00 ? normal : huge;
  if (rest > 0x7c00)
    bits |= 0x400000; // quiet, as processors make it
  return __builtin_bit_cast(float, bits | sign);
}

PERIGEE_INLINE std::uint16_t float_lane(float x) {
  auto bits = __builtin_bit_cast(std::uint32_t, x);
  auto sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  // Subnormal: beside 0.5 a fraction has steps of 2^-24, and the sum is rounded to
  // them.
  auto small = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, bits) + 0.5F)
               - __builtin_bit_cast(std::uint32_t, 0.5F);
  auto normal = (bits - ((127u - 15u) << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
  auto nan = 0x7e00 | (bits >> 13 & 0x3ff);
  auto half = bits < 0x38800000   ? small
              : bits < 0x477ff000 ? normal
              : bits > 0x7f800000 ? nan
                                  : 0x7c00;
  return static_cast<std::uint16_t>(half | sign);
}

struct portable_lanes {
  static constexpr const char* name = "portable";
  static constexpr std::size_t width = 16;
  static constexpr std::size_t tokens = 4;
  static constexpr std::size_t queries = 1;

  struct real {
    float lane[width];
  };
  struct whole {
    std::int32_t lane[width];
  };
  struct bytes {
    std::uint8_t lane[4 * width];
  };
  using partial = whole;

  template <class F>
  PERIGEE_INLINE static real each(const F& one) {
    real out;
    for (std::size_t i = 0; i < width; ++i)
      out.lane[i] = one(i);
    return out;
  }

  PERIGEE_INLINE static real zero() {
    return {};
  }
  PERIGEE_INLINE static real add(const real& a, const real& b) {
    return each([&](std::size_t i) { return a.lane[i] + b.lane[i]; });
  }
  PERIGEE_INLINE static real sub(const real& a, const real& b) {
    return each([&](std::size_t i) { return a.lane[i] - b.lane[i]; });
  }
  PERIGEE_INLINE static real mul(const real& a, const real& b) {
    return each([&](std::size_t i) { return a.lane[i] * b.lane[i]; });
  }
  PERIGEE_INLINE static real to_real(const whole& a) {
    return each([&](std::size_t i) { return static_cast<float>(a.lane[i]); });
  }
  PERIGEE_INLINE static void store(float* to, const real& a) {
    __builtin_memcpy(to, &a, sizeof(a));
  }

  template <class T>
  PERIGEE_INLINE static T at(const std::byte* from, std::size_t index = 0) {
    T it;
    __builtin_memcpy(&it, from + index * sizeof(T), sizeof(T));
    return it;
  }

  PERIGEE_INLINE static real broadcast(const std::byte* from) {
    auto it = at<float>(from);
    return each([&](std::size_t) { return it; });
  }
  PERIGEE_INLINE static real from_halves(const std::byte* from) {
    return each([&](std::size_t i) { return half_lane(at<std::uint16_t>(from, i)); });
  }
  PERIGEE_INLINE static real from_u8(const std::byte* from) {
    return each(
      [&](std::size_t i) { return static_cast<float>(at<std::uint8_t>(from, i)); });
  }
  PERIGEE_INLINE static real from_i8(const std::byte* from) {
    return each(
      [&](std::size_t i) { return static_cast<float>(at<std::int8_t>(from, i)); });
  }
  template <gguf::tensor_type Type>
  PERIGEE_INLINE static real from_floats(const std::byte* from) {
    if constexpr (Type == gguf::tensor_type::f16)
      return from_halves(from);
    else if constexpr (Type == gguf::tensor_type::bf16)
      return each([&](std::size_t i) {
        return __builtin_bit_cast(float,
                                  std::uint32_t{at<std::uint16_t>(from, i)} << 16);
      });
    else
      return each([&](std::size_t i) { return at<float>(from, i); });
  }

  PERIGEE_INLINE static bytes load_bytes(const std::byte* from) {
    return at<bytes>(from);
  }
  PERIGEE_INLINE static bytes low_nibbles(const bytes& a) {
    bytes out;
    for (std::size_t i = 0; i < sizeof(out); ++i)
      out.lane[i] = a.lane[i] & 15;
    return out;
  }
  PERIGEE_INLINE static bytes high_nibbles(const bytes& a) {
    bytes out;
    for (std::size_t i = 0; i < sizeof(out); ++i)
      out.lane[i] = a.lane[i] >> 4;
    return out;
  }
  /// `low`, with the bits (high >> Shift & Mask) above its nibbles.
  template <std::size_t Shift, std::uint8_t Mask>
  PERIGEE_INLINE static bytes with_bits(const bytes& low, const bytes& high) {
    bytes out;
    for (std::size_t i = 0; i < sizeof(out); ++i)
      out.lane[i]
        = static_cast<std::uint8_t>(low.lane[i] | (high.lane[i] >> Shift & Mask) << 4);
    return out;
  }

  /// How many groups of quants of so many bits a partial sum can take.
  template <int Bits>
  static constexpr std::size_t groups_max = 8;

  template <int Bits>
  PERIGEE_INLINE static const bytes& quants(const bytes& a) {
    return a;
  }
  PERIGEE_INLINE static whole none() {
    return {};
  }
  /// From minus the sum of the tokens, what makes up for quants without sign.
  template <int Bits>
  PERIGEE_INLINE static whole start(const std::byte* minus_sum) {
    auto first = at<std::int32_t>(minus_sum) * (1 << (Bits - 1));
    whole out;
    for (std::size_t i = 0; i < width; ++i)
      out.lane[i] = first;
    return out;
  }
  template <int Bits>
  PERIGEE_INLINE static partial open(const whole& sum) {
    return sum;
  }
  template <int Bits>
  PERIGEE_INLINE static whole close(const whole&, const partial& done) {
    return done;
  }
  PERIGEE_INLINE static partial dot(partial sum, const bytes& quants,
                                    const std::byte* tokens) {
    std::int32_t x[4] = {at<std::int8_t>(tokens, 0), at<std::int8_t>(tokens, 1),
                         at<std::int8_t>(tokens, 2), at<std::int8_t>(tokens, 3)};
    for (std::size_t i = 0; i < width; ++i)
      sum.lane[i] += quants.lane[4 * i] * x[0] + quants.lane[4 * i + 1] * x[1]
                     + quants.lane[4 * i + 2] * x[2] + quants.lane[4 * i + 3] * x[3];
    return sum;
  }

  PERIGEE_INLINE static void widen(const std::uint16_t* from, eight& to) {
    for (std::size_t i = 0; i < 8; ++i)
      to[i] = half_lane(from[i]);
  }
  PERIGEE_INLINE static void narrow(const float* from, std::uint16_t* to) {
    for (std::size_t i = 0; i < 8; ++i)
      to[i] = float_lane(from[i]);
  }
  PERIGEE_INLINE static void sum_lanes(const eight (&of)[4], float* to) {
    for (std::size_t i = 0; i < 4; ++i)
      to[i] = sum_eight(of[i]);
  }
};

} // namespace

extern const kernel_set portable_kernels;
constexpr kernel_set portable_kernels = table_of<portable_lanes>();

} // namespace perigee::engine::cpu
