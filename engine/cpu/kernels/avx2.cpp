// Vectors of 256 bits. portable.cpp says what each function does.
#include "engine/cpu/kernels/kernel_table.hpp"

#include <immintrin.h>

namespace perigee::engine::cpu {
namespace {

struct avx2_lanes {
  static constexpr const char* name = "avx2";
  static constexpr std::size_t width = 8;
  static constexpr std::size_t tokens = 4;

  using real = __m256;
  using whole = __m256i;
  using bytes = __m256i;
  using partial = __m256i; // sixteen sums of 16 bits, or eight of 32: see dot()

  PERIGEE_INLINE static real zero() {
    return _mm256_setzero_ps();
  }
  PERIGEE_INLINE static real add(real a, real b) {
    return _mm256_add_ps(a, b);
  }
  PERIGEE_INLINE static real sub(real a, real b) {
    return _mm256_sub_ps(a, b);
  }
  PERIGEE_INLINE static real mul(real a, real b) {
    return _mm256_mul_ps(a, b);
  }
  PERIGEE_INLINE static real to_real(whole a) {
    return _mm256_cvtepi32_ps(a);
  }
  PERIGEE_INLINE static void store(float* to, real a) {
    _mm256_storeu_ps(to, a);
  }

  PERIGEE_INLINE static real broadcast(const std::byte* from) {
    return _mm256_broadcast_ss(reinterpret_cast<const float*>(from));
  }
  PERIGEE_INLINE static whole broadcast_bytes(const std::byte* from) {
    std::int32_t it;
    __builtin_memcpy(&it, from, sizeof(it));
    return _mm256_set1_epi32(it);
  }
  PERIGEE_INLINE static __m128i load_half(const std::byte* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
  PERIGEE_INLINE static real from_halves(const std::byte* from) {
    return _mm256_cvtph_ps(load_half(from));
  }
  PERIGEE_INLINE static real from_u8(const std::byte* from) {
    return _mm256_cvtepi32_ps(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  PERIGEE_INLINE static real from_i8(const std::byte* from) {
    return _mm256_cvtepi32_ps(
      _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  template <gguf::tensor_type Type>
  PERIGEE_INLINE static real from_floats(const std::byte* from) {
    if constexpr (Type == gguf::tensor_type::f16)
      return from_halves(from);
    else if constexpr (Type == gguf::tensor_type::bf16)
      return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(load_half(from)), 16));
    else
      return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
  }

  PERIGEE_INLINE static bytes load_bytes(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  PERIGEE_INLINE static bytes low_nibbles(bytes a) {
    return _mm256_and_si256(a, _mm256_set1_epi8(15));
  }
  PERIGEE_INLINE static bytes high_nibbles(bytes a) {
    return _mm256_and_si256(_mm256_srli_epi16(a, 4), _mm256_set1_epi8(15));
  }
  template <std::size_t Shift, std::uint8_t Mask>
  PERIGEE_INLINE static bytes with_bits(bytes low, bytes high) {
    if constexpr (Shift < 4)
      high = _mm256_slli_epi16(high, 4 - Shift);
    else
      high = _mm256_srli_epi16(high, Shift - 4);
    return _mm256_or_si256(low, _mm256_and_si256(high, _mm256_set1_epi8(Mask << 4)));
  }

  // A group adds at most 2 * (2^Bits - 1) * 127 to a sum of 16 bits.
  template <int Bits>
  static constexpr std::size_t groups_max = Bits == 5   ? 4
                                            : Bits == 6 ? 2
                                                        : 8;
  static_assert(2 * 15 * 127 * 8 < 32768 && 2 * 31 * 127 * 4 < 32768
                  && 2 * 63 * 127 * 2 < 32768,
                "sums of 16 bits never saturate");

  struct signed_bytes {
    __m256i sign;
    __m256i size;
  };

  /// Of 8 bits, quants don't fit into sums of 16: they get their sign back, and sums
  /// have 32 bits.
  template <int Bits>
  PERIGEE_INLINE static auto quants(bytes a) {
    if constexpr (Bits == 8) {
      auto with_sign = _mm256_xor_si256(a, _mm256_set1_epi8(-128));
      return signed_bytes{with_sign, _mm256_abs_epi8(with_sign)};
    } else {
      return a;
    }
  }
  PERIGEE_INLINE static whole none() {
    return _mm256_setzero_si256();
  }
  template <int Bits>
  PERIGEE_INLINE static whole start(const std::byte* minus_sum) {
    if constexpr (Bits == 8)
      return none();
    else
      return _mm256_slli_epi32(broadcast_bytes(minus_sum), Bits - 1);
  }
  template <int Bits>
  PERIGEE_INLINE static partial open(whole sum) {
    return Bits == 8 ? sum : none();
  }
  template <int Bits>
  PERIGEE_INLINE static whole close(whole sum, partial done) {
    if constexpr (Bits == 8)
      return done;
    else
      return _mm256_add_epi32(sum, _mm256_madd_epi16(done, _mm256_set1_epi16(1)));
  }
  PERIGEE_INLINE static partial dot(partial sum, bytes quants,
                                    const std::byte* tokens) {
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(quants, broadcast_bytes(tokens)));
  }
  PERIGEE_INLINE static whole dot(whole sum, signed_bytes quants,
                                  const std::byte* tokens) {
    auto pairs = _mm256_maddubs_epi16(
      quants.size, _mm256_sign_epi8(broadcast_bytes(tokens), quants.sign));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
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

extern const kernel_set avx2_kernels;
constexpr kernel_set avx2_kernels = table_of<avx2_lanes>();

} // namespace perigee::engine::cpu
