/// \file
/// attend_sums: what attention adds up: scores of keys, and values by their weights.
/// `V` makes each file's copy its own, see product.hpp.
///
/// A vector holds numbers of as many queries: each query's own are added up one by one,
/// in order of columns or positions, whatever the width. Nothing is added across a
/// vector.
#pragma once

#include "engine/cpu/kernels/eight.hpp"
#include "engine/cpu/kernels/unrolled.hpp"

namespace perigee::engine::cpu {

/// W floats.
template <std::size_t W>
using queries_of [[gnu::vector_size(W * sizeof(float))]] = float;
template <std::size_t W>
using bits_of [[gnu::vector_size(W * sizeof(float))]] = std::int32_t;

/// So few queries are worked on by vectors of columns where that goes.
inline constexpr std::size_t few = 4;

/// Vectors of queries, and keys or columns of values, that are worked on at once: as
/// many sums as registers hold.
template <std::size_t W>
inline constexpr std::size_t wide_max = W == 16 ? 3 : 2;
template <std::size_t Wide>
inline constexpr std::size_t deep_of = Wide == 1 ? 8 : 4;

template <class V, std::size_t W>
PERIGEE_INLINE void load_queries(const float* from, queries_of<W>& to) {
  __builtin_memcpy(&to, from, sizeof(to));
}

template <class V, std::size_t W>
PERIGEE_INLINE void store_queries(float* to, const queries_of<W>& from) {
  __builtin_memcpy(to, &from, sizeof(from));
}

/// Deep keys by Wide vectors of queries.
template <class V, std::size_t W, std::size_t Deep, std::size_t Wide>
PERIGEE_INLINE void score_some(const float* queries, std::size_t lanes,
                               const float* keys, std::size_t dim, float* out) {
  queries_of<W> sums[Deep][Wide] = {};
  for (std::size_t d = 0; d < dim; ++d) {
    queries_of<W> here[Wide];
    unrolled<Wide>([&](auto w) {
      load_queries<V, W>(queries + d * lanes + w.value * W, here[w.value]);
    });
    unrolled<Deep>([&](auto k) {
      auto key = keys[k.value * dim + d];
      unrolled<Wide>([&](auto w) { sums[k.value][w.value] += key * here[w.value]; });
    });
  }
  unrolled<Deep>([&](auto k) {
    unrolled<Wide>([&](auto w) {
      store_queries<V, W>(out + k.value * lanes + w.value * W, sums[k.value][w.value]);
    });
  });
}

template <class V, std::size_t W, std::size_t Wide, std::size_t Deep = deep_of<Wide>>
PERIGEE_INLINE void score_keys(const float* queries, std::size_t lanes,
                               const float* keys, std::size_t count, std::size_t dim,
                               float* out) {
  for (; count >= Deep; count -= Deep) {
    score_some<V, W, Deep, Wide>(queries, lanes, keys, dim, out);
    keys += Deep * dim;
    out += Deep * lanes;
  }
  if constexpr (Deep > 1)
    if (count > 0)
      score_keys<V, W, Wide, Deep / 2>(queries, lanes, keys, count, dim, out);
}

/// Deep columns of values by Wide vectors of weights, position by position.
template <class V, std::size_t W, std::size_t Deep, std::size_t Wide>
PERIGEE_INLINE void mix_some(const float* weights, std::size_t lanes,
                             const float* values, std::size_t count, std::size_t dim,
                             float* out) {
  queries_of<W> sums[Deep][Wide];
  unrolled<Deep>([&](auto d) {
    unrolled<Wide>([&](auto w) {
      load_queries<V, W>(out + d.value * lanes + w.value * W, sums[d.value][w.value]);
    });
  });
  for (std::size_t t = 0; t < count; ++t) {
    queries_of<W> here[Wide];
    unrolled<Wide>([&](auto w) {
      load_queries<V, W>(weights + t * lanes + w.value * W, here[w.value]);
    });
    unrolled<Deep>([&](auto d) {
      auto value = values[t * dim + d.value];
      unrolled<Wide>([&](auto w) { sums[d.value][w.value] += value * here[w.value]; });
    });
  }
  unrolled<Deep>([&](auto d) {
    unrolled<Wide>([&](auto w) {
      store_queries<V, W>(out + d.value * lanes + w.value * W, sums[d.value][w.value]);
    });
  });
}

template <class V>
PERIGEE_INLINE void load_values(const float* from, eight& to) {
  load(from, to);
}

template <class V>
PERIGEE_INLINE void load_values(const std::uint16_t* from, eight& to) {
  V::widen(from, to);
}

/// Count queries by Wide eights of columns, position by position: the same sums as
/// mix_some(), for queries that are too few to fill vectors. `weights` are
/// [count][few], `out` is [few][dim].
template <class V, std::size_t Count, std::size_t Wide, class Number>
PERIGEE_INLINE void mix_columns_some(const float* weights, const Number* values,
                                     std::size_t count, std::size_t dim, float* out) {
  eight sums[Count][Wide];
  unrolled<Count>([&](auto q) {
    unrolled<Wide>(
      [&](auto w) { load(out + q.value * dim + 8 * w.value, sums[q.value][w.value]); });
  });
  for (std::size_t t = 0; t < count; ++t) {
    eight here[Wide];
    unrolled<Wide>(
      [&](auto w) { load_values<V>(values + t * dim + 8 * w.value, here[w.value]); });
    unrolled<Count>([&](auto q) {
      auto weight = weights[t * few + q.value];
      unrolled<Wide>([&](auto w) { sums[q.value][w.value] += weight * here[w.value]; });
    });
  }
  unrolled<Count>([&](auto q) {
    unrolled<Wide>([&](auto w) {
      store(out + q.value * dim + 8 * w.value, sums[q.value][w.value]);
    });
  });
}

template <class V, std::size_t Count, class Number>
void mix_columns(const float* weights, const Number* values, std::size_t count,
                 std::size_t dim, float* out) {
  constexpr std::size_t wide = V::width == 16 ? 4 : 2;
  std::size_t d = 0;
  for (; d + 8 * wide <= dim; d += 8 * wide)
    mix_columns_some<V, Count, wide>(weights, values + d, count, dim, out + d);
  for (; d < dim; d += 8)
    mix_columns_some<V, Count, 1>(weights, values + d, count, dim, out + d);
}

/// Calls `body(constant<Wide>, lane)` for vectors of queries, several at a time.
template <class V, std::size_t W, std::size_t Wide = wide_max<W>, class F>
PERIGEE_INLINE void each_wide(std::size_t lane, std::size_t lanes, const F& body) {
  for (; lane + Wide * W <= lanes; lane += Wide * W)
    body(constant<Wide>{}, lane);
  if constexpr (Wide > 1)
    each_wide<V, W, Wide - 1>(lane, lanes, body);
}

} // namespace perigee::engine::cpu
