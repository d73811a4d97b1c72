/// \file
/// eight: the eight lanes in which floats are added up.
#pragma once

#include "engine/cpu/kernels/unrolled.hpp"

#include <cstddef>
#include <cstdint>

namespace perigee::engine::cpu {
namespace {

/// On any processor: the compiler takes two vectors, or four, where there are no longer
/// ones. Never passed or returned by value, for how depends on the processor.
using eight [[gnu::vector_size(32)]] = float;

PERIGEE_INLINE void load(const float* from, eight& to) {
  __builtin_memcpy(&to, from, sizeof(to));
}

PERIGEE_INLINE void store(float* to, const eight& from) {
  __builtin_memcpy(to, &from, sizeof(from));
}

PERIGEE_INLINE float sum_eight(const eight& a) {
  return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
}

} // namespace
} // namespace perigee::engine::cpu
