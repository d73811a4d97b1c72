#include "engine/cpu/kernels/kernels.hpp"

#include <array>

#if defined(__x86_64__)
#  include <cpuid.h>
#endif

namespace perigee::engine::cpu {

extern const kernel_set portable_kernels;
#if defined(__x86_64__)
extern const kernel_set avx2_kernels;
extern const kernel_set avx512_kernels;
#endif

namespace {

#if defined(__x86_64__)
// The builtins also ask whether the operating system keeps such registers.
bool has_avx2() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d)
         && (c & bit_F16C) != 0;
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f")
         && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
         && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}
#endif

struct sets {
  std::array<const kernel_set*, 3> all{&portable_kernels};
  std::size_t count = 1;

  sets() {
#if defined(__x86_64__)
    if (has_avx2())
      all[count++] = &avx2_kernels;
    if (has_avx512())
      all[count++] = &avx512_kernels;
#endif
  }
};

} // namespace

std::span<const kernel_set* const> available() {
  static const sets found;
  return {found.all.data(), found.count};
}

const kernel_set& fastest() {
  return *available().back();
}

const kernel_set* kernels_named(std::string_view name) {
  for (const auto* set : available())
    if (set->name == name)
      return set;
  return nullptr;
}

} // namespace perigee::engine::cpu
