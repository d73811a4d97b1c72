// Vectors that the compiler makes of what the processor has. The other files do the
// same, bit for bit.
#include "engine/cpu/kernels/kernel_table.hpp"

namespace perigee::engine::cpu {
namespace {

using four_f32 [[gnu::vector_size(16)]] = float;
using four_i32 [[gnu::vector_size(16)]] = std::int32_t;
using four_u16 [[gnu::vector_size(8)]] = std::uint16_t;
using four_u8 [[gnu::vector_size(4)]] = std::uint8_t;
using four_i8 [[gnu::vector_size(4)]] = std::int8_t;
using quad_u8 [[gnu::vector_size(16)]] = std::uint8_t;  // 4 rows of 4 columns
using half_i16 [[gnu::vector_size(16)]] = std::int16_t; // 2 rows of 4 columns
using half_u8 [[gnu::vector_size(8)]] = std::uint8_t;
using half_i8 [[gnu::vector_size(8)]] = std::int8_t;
using two_i32 [[gnu::vector_size(8)]] = std::int32_t;

constexpr std::int32_t half_infinity = 0x7c00;
constexpr std::int32_t rebias = (127 - 15) << 23; // of exponents, from F16 to F32

PERIGEE_INLINE four_f32 from_half(four_u16 half) {
  auto all = __builtin_convertvector(half, four_i32);
  auto rest = all & 0x7fff;
  auto sign = (all & 0x8000) << 16;
  // A subnormal is a number of steps of 2^-24.
  auto small = (four_i32)(__builtin_convertvector(rest, four_f32) * 0x1p-24F);
  auto normal = (rest << 13) + rebias;
  auto huge = (rest << 13) + 2 * rebias;
  huge = rest > half_infinity ? huge | 0x400000 : huge; // quiet, as processors make it
  auto bits = rest < 0x400 ? small : rest < half_infinity ? normal : huge;
  return (four_f32)(bits | sign);
}

PERIGEE_INLINE std::uint16_t to_half(float x) {
  auto bits = __builtin_bit_cast(std::uint32_t, x);
  auto sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  // Subnormal: beside 0.5 a fraction has steps of 2^-24, and the sum is rounded to
  // them.
  auto small = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, bits) + 0.5F)
               - __builtin_bit_cast(std::uint32_t, 0.5F);
  auto normal = (bits - rebias + 0xfff + (bits >> 13 & 1)) >> 13;
  auto nan = 0x7e00 | (bits >> 13 & 0x3ff);
  auto half = bits < 0x38800000   ? small
              : bits < 0x477ff000 ? normal
              : bits > 0x7f800000 ? nan
                                  : half_infinity;
  return static_cast<std::uint16_t>(half | sign);
}

struct portable_lanes {
  static constexpr const char* name = "portable";

  static constexpr std::size_t width = 4;  ///< Rows together: floats in a vector.
  static constexpr std::size_t tokens = 4; ///< Tokens together.

  using real = four_f32;
  using whole = four_i32;
  using bytes = quad_u8;
  struct partial { // of two rows each, two sums a row
    four_i32 half[2];
  };
  struct wide_quants {
    half_i16 half[2];
  };

  template <class T>
  PERIGEE_INLINE static T at(const std::byte* from) {
    T it;
    __builtin_memcpy(&it, from, sizeof(T));
    return it;
  }

  PERIGEE_INLINE static real zero() {
    return real{};
  }
  PERIGEE_INLINE static real add(real a, real b) {
    return a + b;
  }
  PERIGEE_INLINE static real sub(real a, real b) {
    return a - b;
  }
  PERIGEE_INLINE static real mul(real a, real b) {
    return a * b;
  }
  PERIGEE_INLINE static real to_real(whole a) {
    return __builtin_convertvector(a, real);
  }
  PERIGEE_INLINE static void store(float* to, real a) {
    __builtin_memcpy(to, &a, sizeof(a));
  }
  PERIGEE_INLINE static real broadcast(const std::byte* from) {
    return real{} + at<float>(from);
  }
  PERIGEE_INLINE static real from_halves(const std::byte* from) {
    return from_half(at<four_u16>(from));
  }
  PERIGEE_INLINE static real from_u8(const std::byte* from) {
    return __builtin_convertvector(at<four_u8>(from), real);
  }
  PERIGEE_INLINE static real from_i8(const std::byte* from) {
    return __builtin_convertvector(at<four_i8>(from), real);
  }
  template <gguf::tensor_type Type>
  PERIGEE_INLINE static real from_floats(const std::byte* from) {
    if constexpr (Type == gguf::tensor_type::f16)
      return from_halves(from);
    else if constexpr (Type == gguf::tensor_type::bf16)
      return (real)(__builtin_convertvector(at<four_u16>(from), whole) << 16);
    else
      return at<real>(from);
  }

  PERIGEE_INLINE static bytes load_bytes(const std::byte* from) {
    return at<bytes>(from);
  }
  PERIGEE_INLINE static bytes low_nibbles(bytes a) {
    return a & 15;
  }
  PERIGEE_INLINE static bytes high_nibbles(bytes a) {
    return a >> 4;
  }
  /// `low`, with the bits (high >> Shift & Mask) above its nibbles.
  template <std::size_t Shift, std::uint8_t Mask>
  PERIGEE_INLINE static bytes with_bits(bytes low, bytes high) {
    return low | ((high >> Shift & Mask) << 4);
  }

  /// How many groups of quants of so many bits a partial sum can take.
  template <int Bits>
  static constexpr std::size_t groups_max = 8;

  /// As dot() wants them.
  template <int Bits>
  PERIGEE_INLINE static wide_quants quants(bytes a) {
    half_u8 halves[2];
    __builtin_memcpy(halves, &a, sizeof(a));
    return {{__builtin_convertvector(halves[0], half_i16),
             __builtin_convertvector(halves[1], half_i16)}};
  }
  PERIGEE_INLINE static whole none() {
    return whole{};
  }
  /// From minus the sum of the tokens, what makes up for quants without sign.
  template <int Bits>
  PERIGEE_INLINE static whole start(const std::byte* minus_sum) {
    return whole{} + at<std::int32_t>(minus_sum) * (1 << (Bits - 1));
  }
  /// A partial sum that close() adds to `sum`, or puts in its place.
  template <int Bits>
  PERIGEE_INLINE static partial open(whole) {
    return {};
  }
  template <int Bits>
  PERIGEE_INLINE static whole close(whole sum, const partial& done) {
    return sum + __builtin_shufflevector(done.half[0], done.half[1], 0, 2, 4, 6)
           + __builtin_shufflevector(done.half[0], done.half[1], 1, 3, 5, 7);
  }
  /// Adds each row's four quants times the four tokens.
  PERIGEE_INLINE static partial dot(partial sum, const wide_quants& quants,
                                    const std::byte* tokens) {
    auto twice = (half_i8)(two_i32{} + at<std::int32_t>(tokens));
    auto wide = __builtin_convertvector(twice, half_i16);
    for (std::size_t i = 0; i < 2; ++i) {
#if defined(__SSE2__)
      sum.half[i] += __builtin_ia32_pmaddwd128(quants.half[i], wide);
#else
      auto products = (four_i32)(quants.half[i] * wide);
      sum.half[i] += (products << 16 >> 16) + (products >> 16);
#endif
    }
    return sum;
  }
  static_assert(255 * 127 < 32768, "a product has 16 bits");

  /// Eight F16, exactly.
  PERIGEE_INLINE static void widen(const std::uint16_t* from, eight& to) {
    four_f32 halves[2];
    for (std::size_t i = 0; i < 2; ++i) {
      four_u16 half;
      __builtin_memcpy(&half, from + 4 * i, sizeof(half));
      halves[i] = from_half(half);
    }
    __builtin_memcpy(&to, halves, sizeof(to));
  }
  /// Eight floats, to nearest even.
  PERIGEE_INLINE static void narrow(const float* from, std::uint16_t* to) {
    for (std::size_t i = 0; i < 8; ++i)
      to[i] = to_half(from[i]);
  }
};

} // namespace

extern const kernel_set portable_kernels;
constexpr kernel_set portable_kernels = table_of<portable_lanes>();

} // namespace perigee::engine::cpu
