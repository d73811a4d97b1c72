#include "transport/shm/copy.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>

#ifdef __SSE2__
#  include <emmintrin.h>
#endif

namespace perigee::transport::shm {

#ifdef __SSE2__

void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t line = 64;
  auto head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  if (bytes < head + line) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memcpy(to, from, head);
  auto* out = reinterpret_cast<__m128i*>(to + head);
  const auto* in = reinterpret_cast<const __m128i*>(from + head);
  auto lines = (bytes - head) / line;
  for (std::size_t i = 0; i < lines; ++i, in += 4, out += 4) {
    _mm_prefetch(reinterpret_cast<const char*>(in + 32), _MM_HINT_NTA);
    auto a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    auto c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  _mm_sfence(); // the others see these stores in no order else
  auto done = head + lines * line;
  std::memcpy(to + done, from + done, bytes - done);
}

#else

void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

#endif

void copying::copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
  if (bytes >= streaming_bytes_min)
    copy_streaming(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

namespace {

/// More than caches of one core hold, so that most comes from memory, as in real moves.
constexpr std::size_t field_bytes = std::size_t{8} << 20;

using nanoseconds = std::chrono::nanoseconds;

/// For all of the field, in copies of `bytes`.
nanoseconds time_of(const copying& how, std::size_t bytes, std::byte* to,
                    const std::byte* from) {
  auto began = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at + bytes <= field_bytes; at += bytes)
    how.copy(to + at, from + at, bytes);
  return std::chrono::steady_clock::now() - began;
}

copying measure() {
  constexpr std::array<std::size_t, 4> sizes{std::size_t{4} << 20, std::size_t{1} << 20,
                                             std::size_t{256} << 10,
                                             std::size_t{64} << 10};
  constexpr int rounds = 5;
  std::unique_ptr<std::byte[]> from{new std::byte[field_bytes]{}};
  std::unique_ptr<std::byte[]> to{new std::byte[field_bytes]{}};
  copying found;
  for (auto bytes : sizes) { // from the largest on, as long as it pays
    std::array<nanoseconds, rounds> plain{}, streaming{};
    for (std::size_t i = 0; i < rounds; ++i) {
      plain[i] = time_of({}, bytes, to.get(), from.get());
      streaming[i] = time_of({.streaming_bytes_min = 0}, bytes, to.get(), from.get());
    }
    std::ranges::nth_element(plain, plain.begin() + rounds / 2);
    std::ranges::nth_element(streaming, streaming.begin() + rounds / 2);
    if (streaming[rounds / 2] >= plain[rounds / 2])
      break;
    found.streaming_bytes_min = bytes;
  }
  return found;
}

} // namespace

copying find_copying() {
  static const copying found = measure();
  return found;
}

} // namespace perigee::transport::shm
