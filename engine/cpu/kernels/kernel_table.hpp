/// \file
/// kernel_table: the kernel_set over vectors `V`, for the file that defines them.
#pragma once

#include "engine/cpu/kernels/attend.hpp"
#include "engine/cpu/kernels/elementwise.hpp"
#include "engine/cpu/kernels/kernels.hpp"
#include "engine/cpu/kernels/prepare.hpp"
#include "engine/cpu/kernels/product.hpp"

namespace perigee::engine::cpu {

template <class V>
constexpr kernel_set table_of() {
  return {
    .name = V::name,
    .prepare = prepare<V>,
    .product = product<V>,
    .rms_norm = rms_norm<V>,
    .add = add<V>,
    .scale = scale<V>,
    .silu_product = silu_product<V>,
    .gelu_product = gelu_product<V>,
    .rope_adjacent = rope_adjacent<V>,
    .rope_halves = rope_halves<V>,
    .attend = attend<V>,
    .to_f16 = to_f16<V>,
    .from_f16 = from_f16<V>,
  };
}

} // namespace perigee::engine::cpu
