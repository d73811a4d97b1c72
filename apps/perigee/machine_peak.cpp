#include "apps/perigee/machine_peak.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#  include <immintrin.h>
#endif

namespace perigee::app {
namespace {

using seconds = std::chrono::duration<double>;

/// Has `threads` threads do `work(thread)` again and again from a common begin, and
/// answers the units of it that they did in a second.
template <class Work>
double rate_of(std::size_t threads, double units_a_call, seconds length, Work work) {
  std::barrier begin{static_cast<std::ptrdiff_t>(threads)};
  std::vector<double> rates(threads);
  std::vector<std::thread> all;
  for (std::size_t thread = 0; thread < threads; ++thread)
    all.emplace_back([&, thread] {
      work(thread);
      begin.arrive_and_wait();
      auto since = std::chrono::steady_clock::now();
      double calls = 0;
      seconds spent{};
      for (; spent < length; spent = std::chrono::steady_clock::now() - since, ++calls)
        work(thread);
      rates[thread] = calls * units_a_call / spent.count();
    });
  for (auto& one : all)
    one.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// So that the compiler can't leave out what led to `value`.
template <class T>
void keep(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

#if defined(__x86_64__)
constexpr int steps = 100'000;
constexpr int chains = 12; // enough to hide an instruction's latency

__attribute__((target("avx512f,avx512vnni"))) void run_vnni() {
  __m512i sums[chains];
  auto x = _mm512_set1_epi8(1);
  for (auto& sum : sums)
    sum = _mm512_setzero_si512();
  for (int i = 0; i < steps; ++i) {
#  pragma GCC unroll 12
    for (auto& sum : sums)
      asm volatile("vpdpbusd %1, %1, %0" : "+v"(sum) : "v"(x));
  }
}

__attribute__((target("avx2"))) void run_avx2() {
  __m256i sums[chains];
  auto x = _mm256_set1_epi8(1);
  auto ones = _mm256_set1_epi16(1);
  for (auto& sum : sums)
    sum = _mm256_setzero_si256();
  for (int i = 0; i < steps; ++i) {
#  pragma GCC unroll 12
    for (auto& sum : sums) {
      __m256i pairs;
      asm volatile("vpmaddubsw %1, %1, %0" : "=x"(pairs) : "x"(x));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
    }
  }
#  pragma GCC unroll 12
  for (auto& sum : sums)
    asm volatile("" : : "x"(sum));
}

bool has_vnni() {
  return __builtin_cpu_supports("avx512vnni") != 0;
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}
#endif

} // namespace

double peak_bytes(std::size_t threads) {
  constexpr std::size_t words = std::size_t{8} << 20; // 64 MiB a thread
  std::vector<std::vector<std::uint64_t>> memory(threads);
  for (auto& one : memory)
    one.assign(words, 1);
  return rate_of(threads, words * 8.0, seconds{1}, [&](std::size_t thread) {
    std::uint64_t sums[16]{};
    const auto* from = memory[thread].data();
    for (std::size_t i = 0; i < words; i += 16)
      for (std::size_t lane = 0; lane < 16; ++lane)
        sums[lane] += from[i + lane];
    keep(sums);
  });
}

double peak_multiply_adds(std::size_t threads) {
#if defined(__x86_64__)
  if (has_vnni())
    return rate_of(threads, 64.0 * steps * chains, seconds{0.5},
                   [](std::size_t) { run_vnni(); });
  if (has_avx2())
    return rate_of(threads, 32.0 * steps * chains, seconds{0.5},
                   [](std::size_t) { run_avx2(); });
#endif
  return 0.0 * static_cast<double>(threads);
}

const char* peak_instructions() {
#if defined(__x86_64__)
  if (has_vnni())
    return "AVX-512 VNNI";
  if (has_avx2())
    return "AVX2";
#endif
  return "none";
}

} // namespace perigee::app
