/// \file
/// What attention does to one block of keys or values. `V` makes each file's copy its
/// own, see product.hpp.
#pragma once

#include "engine/cpu/kernels/eight.hpp"
#include "engine/cpu/kernels/views.hpp"

namespace perigee::engine::cpu {

inline constexpr std::size_t keys_together = 4;

template <class V>
PERIGEE_INLINE void load_kv(const float* from, eight& to) {
  load(from, to);
}

template <class V>
PERIGEE_INLINE void load_kv(const std::uint16_t* from, eight& to) {
  V::widen(from, to);
}

/// Queries [0, Count) by keys [0, keys), keys <= 4.
template <class V, class Number, std::size_t Count>
PERIGEE_INLINE void score_some(const rows& queries, const Number* key, std::size_t keys,
                               float factor, const rows_out& out) {
  auto dim = queries.width;
  eight sums[Count][keys_together] = {};
  // Where there are fewer keys, the last stands in for those that lack.
  const Number* at[keys_together];
  for (std::size_t k = 0; k < keys_together; ++k)
    at[k] = key + (k < keys ? k : keys - 1) * dim;
  for (std::size_t d = 0; d < dim; d += 8) {
    eight four[keys_together];
    unrolled<keys_together>(
      [&](auto k) { load_kv<V>(at[k.value] + d, four[k.value]); });
    unrolled<Count>([&](auto q) {
      eight query;
      load(queries.data + q.value * queries.stride + d, query);
      unrolled<keys_together>(
        [&](auto k) { sums[q.value][k.value] += query * four[k.value]; });
    });
  }
  for (std::size_t q = 0; q < Count; ++q) {
    float found[keys_together];
    V::sum_lanes(sums[q], found);
    for (std::size_t k = 0; k < keys; ++k)
      out.data[q * out.stride + k] = found[k] * factor;
  }
}

template <class V, class Number, std::size_t Count = V::queries>
void score_all(rows queries, const Number* keys, std::size_t tokens, float factor,
               rows_out out) {
  for (; queries.count >= Count; queries.count -= Count) {
    for (std::size_t t = 0; t < tokens; t += keys_together) {
      auto left = tokens - t;
      score_some<V, Number, Count>(queries, keys + t * queries.width,
                                   left < keys_together ? left : keys_together, factor,
                                   {out.data + t, out.stride});
    }
    queries.data += Count * queries.stride;
    out.data += Count * out.stride;
  }
  if constexpr (Count > 1)
    if (queries.count > 0)
      score_all<V, Number, Count - 1>(queries, keys, tokens, factor, out);
}

template <class V>
void scores(rows queries, const void* keys, kv_type type, std::size_t tokens,
            float factor, rows_out out) {
  if (type == kv_type::f16)
    score_all<V>(queries, static_cast<const std::uint16_t*>(keys), tokens, factor, out);
  else
    score_all<V>(queries, static_cast<const float*>(keys), tokens, factor, out);
}

/// Eights [0, Wide) of Count queries.
template <class V, class Number, std::size_t Count, std::size_t Wide>
PERIGEE_INLINE void mix_some(const rows& weights, const Number* value, std::size_t dim,
                             const rows_out& out) {
  eight sums[Count][Wide];
  unrolled<Count>([&](auto q) {
    unrolled<Wide>([&](auto w) {
      load(out.data + q.value * out.stride + 8 * w.value, sums[q.value][w.value]);
    });
  });
  for (std::size_t t = 0; t < weights.width; ++t, value += dim) {
    eight here[Wide];
    unrolled<Wide>([&](auto w) { load_kv<V>(value + 8 * w.value, here[w.value]); });
    unrolled<Count>([&](auto q) {
      auto weight = weights.data[q.value * weights.stride + t];
      unrolled<Wide>([&](auto w) { sums[q.value][w.value] += weight * here[w.value]; });
    });
  }
  unrolled<Count>([&](auto q) {
    unrolled<Wide>([&](auto w) {
      store(out.data + q.value * out.stride + 8 * w.value, sums[q.value][w.value]);
    });
  });
}

template <class V, class Number, std::size_t Count = V::queries>
void mix_all(rows weights, const Number* values, std::size_t dim, rows_out out) {
  constexpr std::size_t wide = 4;
  for (; weights.count >= Count; weights.count -= Count) {
    std::size_t d = 0;
    for (; d + 8 * wide <= dim; d += 8 * wide)
      mix_some<V, Number, Count, wide>(weights, values + d, dim,
                                       {out.data + d, out.stride});
    for (; d < dim; d += 8)
      mix_some<V, Number, Count, 1>(weights, values + d, dim,
                                    {out.data + d, out.stride});
    weights.data += Count * weights.stride;
    out.data += Count * out.stride;
  }
  if constexpr (Count > 1)
    if (weights.count > 0)
      mix_all<V, Number, Count - 1>(weights, values, dim, out);
}

template <class V>
void mix(rows weights, const void* values, kv_type type, std::size_t dim,
         rows_out out) {
  if (type == kv_type::f16)
    mix_all<V>(weights, static_cast<const std::uint16_t*>(values), dim, out);
  else
    mix_all<V>(weights, static_cast<const float*>(values), dim, out);
}

} // namespace perigee::engine::cpu
