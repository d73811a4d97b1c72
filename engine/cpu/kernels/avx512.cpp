// Vectors of 512 bits, with VNNI. portable.cpp says what each function does.
#include "engine/cpu/kernels/kernel_table.hpp"

#include <immintrin.h>

namespace perigee::engine::cpu {
namespace {

struct avx512_lanes {
  static constexpr const char* name = "avx512";
  static constexpr std::size_t width = 16;
  static constexpr std::size_t tokens = 8;

  using real = __m512;
  using whole = __m512i;
  using bytes = __m512i;
  using partial = __m512i;

  PERIGEE_INLINE static real zero() {
    return _mm512_setzero_ps();
  }
  PERIGEE_INLINE static real add(real a, real b) {
    return _mm512_add_ps(a, b);
  }
  PERIGEE_INLINE static real sub(real a, real b) {
    return _mm512_sub_ps(a, b);
  }
  PERIGEE_INLINE static real mul(real a, real b) {
    return _mm512_mul_ps(a, b);
  }
  PERIGEE_INLINE static real to_real(whole a) {
    return _mm512_cvtepi32_ps(a);
  }
  PERIGEE_INLINE static void store(float* to, real a) {
    _mm512_storeu_ps(to, a);
  }

  PERIGEE_INLINE static real broadcast(const std::byte* from) {
    float it;
    __builtin_memcpy(&it, from, sizeof(it));
    return _mm512_set1_ps(it);
  }
  PERIGEE_INLINE static whole broadcast_bytes(const std::byte* from) {
    std::int32_t it;
    __builtin_memcpy(&it, from, sizeof(it));
    return _mm512_set1_epi32(it);
  }
  PERIGEE_INLINE static real from_halves(const std::byte* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  PERIGEE_INLINE static real from_u8(const std::byte* from) {
    return _mm512_cvtepi32_ps(
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  PERIGEE_INLINE static real from_i8(const std::byte* from) {
    return _mm512_cvtepi32_ps(
      _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  template <gguf::tensor_type Type>
  PERIGEE_INLINE static real from_floats(const std::byte* from) {
    if constexpr (Type == gguf::tensor_type::f16)
      return from_halves(from);
    else if constexpr (Type == gguf::tensor_type::bf16)
      return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))),
                          16));
    else
      return _mm512_loadu_ps(from);
  }

  PERIGEE_INLINE static bytes load_bytes(const std::byte* from) {
    return _mm512_loadu_si512(from);
  }
  PERIGEE_INLINE static bytes low_nibbles(bytes a) {
    return _mm512_and_si512(a, _mm512_set1_epi8(15));
  }
  PERIGEE_INLINE static bytes high_nibbles(bytes a) {
    return _mm512_and_si512(_mm512_srli_epi16(a, 4), _mm512_set1_epi8(15));
  }
  template <std::size_t Shift, std::uint8_t Mask>
  PERIGEE_INLINE static bytes with_bits(bytes low, bytes high) {
    if constexpr (Shift < 4)
      high = _mm512_slli_epi16(high, 4 - Shift);
    else
      high = _mm512_srli_epi16(high, Shift - 4);
    constexpr int low_or_high_and_mask = 0xf8;
    return _mm512_ternarylogic_epi32(low, high, _mm512_set1_epi8(Mask << 4),
                                     low_or_high_and_mask);
  }

  template <int Bits>
  static constexpr std::size_t groups_max = 8;

  template <int Bits>
  PERIGEE_INLINE static bytes quants(bytes a) {
    return a;
  }
  PERIGEE_INLINE static whole none() {
    return _mm512_setzero_si512();
  }
  template <int Bits>
  PERIGEE_INLINE static whole start(const std::byte* minus_sum) {
    return _mm512_slli_epi32(broadcast_bytes(minus_sum), Bits - 1);
  }
  template <int Bits>
  PERIGEE_INLINE static partial open(whole sum) {
    return sum;
  }
  template <int Bits>
  PERIGEE_INLINE static whole close(whole, partial done) {
    return done;
  }
  PERIGEE_INLINE static partial dot(partial sum, bytes quants,
                                    const std::byte* tokens) {
    return _mm512_dpbusd_epi32(sum, quants, broadcast_bytes(tokens));
  }
  /// Eight F16, exactly.
  PERIGEE_INLINE static void widen(const std::uint16_t* from, eight& to) {
    to = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  /// Eight floats, to nearest even.
  PERIGEE_INLINE static void narrow(const float* from, std::uint16_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
  }
};

} // namespace

extern const kernel_set avx512_kernels;
constexpr kernel_set avx512_kernels = table_of<avx512_lanes>();

} // namespace perigee::engine::cpu
