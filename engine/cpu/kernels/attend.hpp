/// \file
/// attend: attention of a few tokens to all positions that they see. `V` makes each
/// file's copy its own, see product.hpp.
///
/// A vector holds numbers of as many queries: each query's own are added up one by one,
/// in order of columns or positions, whatever the width. Nothing is added across a
/// vector.
#pragma once

#include "engine/cpu/kernels/eight.hpp"
#include "engine/cpu/kernels/elementwise.hpp"
#include "engine/cpu/kernels/unrolled.hpp"
#include "engine/cpu/kernels/views.hpp"

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

/// The parts of `scratch`. `lanes` floats make up a row: a number of each query.
struct attend_rooms {
  std::size_t lanes;
  float* queries; // [dim][lanes]
  float* sums;    // [dim][lanes], or [few][dim]: of values, weighted
  float* scores;  // [tile_positions][lanes]
  float* most;    // [lanes]: the highest score so far
  float* weights; // [lanes]: their sum
  float* scales;  // [lanes]
  float* begins;  // [lanes]: the first position that a query sees
  float* ends;    // [lanes]: and the one after the last
  float* kv;      // [positions_widened][dim]
};

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

PERIGEE_INLINE std::size_t row_bytes(const kv_view& kv) {
  return kv.dim * (kv.type == kv_type::f16 ? sizeof(std::uint16_t) : sizeof(float));
}

/// Where the row of `position` is, in keys or values.
PERIGEE_INLINE const std::byte* row_of(const kv_view& kv, const std::byte* of,
                                       std::size_t position) {
  return of + kv.blocks[position / kv.block_tokens] * kv.block_stride
         + position % kv.block_tokens * row_bytes(kv);
}

/// Asks for `count` rows ahead of time.
PERIGEE_INLINE void fetch(const kv_view& kv, const std::byte* rows, std::size_t count) {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at < count * row_bytes(kv); at += line_bytes)
    __builtin_prefetch(rows + at);
}

/// Calls `body(rows, position, count)` for the positions [begin, end) of keys or
/// values, a few of one block at a time; the next are fetched meanwhile.
template <class V, class F>
PERIGEE_INLINE void each_rows(const kv_view& kv, const std::byte* of, std::size_t begin,
                              std::size_t end, const F& body) {
  auto count_at = [&](std::size_t position) {
    auto in_block = kv.block_tokens - position % kv.block_tokens;
    auto count = end - position < in_block ? end - position : in_block;
    return count < positions_widened ? count : positions_widened;
  };
  while (begin < end) {
    auto count = count_at(begin);
    auto next = begin + count;
    if (next < end)
      fetch(kv, row_of(kv, of, next), count_at(next));
    body(row_of(kv, of, begin), begin, count);
    begin = next;
  }
}

/// The same, with floats in place of rows.
template <class V, class F>
PERIGEE_INLINE void each_floats(const kv_view& kv, const std::byte* of,
                                std::size_t begin, std::size_t end, float* room,
                                const F& body) {
  each_rows<V>(kv, of, begin, end,
               [&](const std::byte* rows, std::size_t position, std::size_t count) {
                 auto* floats = reinterpret_cast<const float*>(rows);
                 if (kv.type == kv_type::f16) {
                   from_f16<V>(reinterpret_cast<const std::uint16_t*>(rows),
                               count * kv.dim, room);
                   floats = room;
                 }
                 body(floats, position, count);
               });
}

/// Puts the queries, times the factor, into columns; says what each may see.
template <class V>
void begin_attention(const attention_view& it, const attend_rooms& rooms) {
  auto count = it.tokens * it.group;
  for (std::size_t lane = 0; lane < rooms.lanes; ++lane) {
    auto query = lane < count ? lane : count - 1; // the last stands in for none
    auto token = query / it.group;
    const auto* from
      = it.queries + token * it.query_stride + query % it.group * it.kv.dim;
    for (std::size_t d = 0; d < it.kv.dim; ++d) {
      rooms.queries[d * rooms.lanes + lane] = from[d] * it.factor;
      rooms.sums[d * rooms.lanes + lane] = 0;
    }
    auto end = it.first_position + token + 1;
    rooms.begins[lane]
      = static_cast<float>(it.window > 0 && end > it.window ? end - it.window : 0);
    rooms.ends[lane] = static_cast<float>(end);
    rooms.most[lane] = -__builtin_inff();
    rooms.weights[lane] = 0;
  }
}

/// Hides scores of positions that some queries don't see: those before `last_begin`,
/// and from `first_end` on.
template <class V>
void hide(const attend_rooms& rooms, std::size_t begin, std::size_t end) {
  auto last_begin = rooms.begins[rooms.lanes - 1];
  auto first_end = rooms.ends[0];
  for (auto position = begin; position < end; ++position) {
    auto at = static_cast<float>(position); // exact: contexts are below 2^24
    if (at >= last_begin && at < first_end)
      continue;
    auto* scores = rooms.scores + (position - begin) * rooms.lanes;
    for (std::size_t lane = 0; lane < rooms.lanes; ++lane) {
      bool is_seen = at >= rooms.begins[lane] && at < rooms.ends[lane];
      scores[lane] = is_seen ? scores[lane] : -__builtin_inff();
    }
  }
}

/// x = e^x for x <= 0, within 2 units in the last place; 0 below -87.3.
template <class V, std::size_t W>
PERIGEE_INLINE void raise(queries_of<W>& x) {
  constexpr float least = -87.3F;
  constexpr float to_integer = 12582912.0F; // 1.5 * 2^23: adding it rounds
  auto within = x < least ? queries_of<W>{} + least : x;
  auto shifted = within * 1.44269504F + to_integer;
  auto power = shifted - to_integer;
  auto rest = (within - power * 0.693359375F) - power * -2.12194440e-4F;
  auto sum = rest * 1.9875691500e-4F + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = (sum * rest * rest + rest) + 1.0F;
  auto bits = (bits_of<W>)shifted - __builtin_bit_cast(std::int32_t, to_integer);
  auto scaled = sum * (queries_of<W>)((bits + 127) << 23);
  x = x < least ? queries_of<W>{} : scaled;
}

/// Turns `count` rows of scores into weights, the highest score so far weighing 1, and
/// says by what to scale that which was added up before.
template <class V, std::size_t W>
void weigh(const attend_rooms& rooms, std::size_t count) {
  constexpr auto none = -__builtin_inff();
  for (std::size_t lane = 0; lane < rooms.lanes; lane += W) {
    queries_of<W> most, here;
    load_queries<V, W>(rooms.most + lane, most);
    auto scale = most;
    for (std::size_t t = 0; t < count; ++t) {
      load_queries<V, W>(rooms.scores + t * rooms.lanes + lane, here);
      most = here > most ? here : most;
    }
    store_queries<V, W>(rooms.most + lane, most);
    // Where nothing was seen yet, 0 in place of minus infinity makes all weights 0.
    auto level = most > none ? most : queries_of<W>{};
    scale -= level;
    raise<V, W>(scale);
    queries_of<W> sum;
    load_queries<V, W>(rooms.weights + lane, sum);
    sum *= scale;
    for (std::size_t t = 0; t < count; ++t) {
      auto* row = rooms.scores + t * rooms.lanes + lane;
      load_queries<V, W>(row, here);
      here -= level;
      raise<V, W>(here);
      store_queries<V, W>(row, here);
      sum += here;
    }
    store_queries<V, W>(rooms.weights + lane, sum);
    store_queries<V, W>(rooms.scales + lane, scale);
  }
}

/// By what weigh() says.
template <class V>
void scale_sums(const attend_rooms& rooms, std::size_t dim) {
  if (rooms.lanes == few) {
    for (std::size_t query = 0; query < few; ++query)
      for (std::size_t d = 0; d < dim; ++d)
        rooms.sums[query * dim + d] *= rooms.scales[query];
    return;
  }
  const float* __restrict scales = rooms.scales;
  for (std::size_t d = 0; d < dim; ++d) {
    float* __restrict row = rooms.sums + d * rooms.lanes;
    for (std::size_t lane = 0; lane < rooms.lanes; ++lane)
      row[lane] *= scales[lane];
  }
}

template <class V, std::size_t W>
void score_tile(const attention_view& it, const attend_rooms& rooms, std::size_t begin,
                std::size_t end) {
  auto lanes = rooms.lanes;
  each_floats<V>(it.kv, it.kv.keys, begin, end, rooms.kv,
                 [&](const float* keys, std::size_t position, std::size_t count) {
                   auto* scores = rooms.scores + (position - begin) * lanes;
                   each_wide<V, W>(0, lanes, [&](auto wide, std::size_t lane) {
                     score_keys<V, W, wide.value>(rooms.queries + lane, lanes, keys,
                                                  count, it.kv.dim, scores + lane);
                   });
                 });
}

template <class V, std::size_t W>
void mix_tile(const attention_view& it, const attend_rooms& rooms, std::size_t begin,
              std::size_t end) {
  auto lanes = rooms.lanes;
  each_floats<V>(it.kv, it.kv.values, begin, end, rooms.kv,
                 [&](const float* values, std::size_t position, std::size_t count) {
                   const auto* weights = rooms.scores + (position - begin) * lanes;
                   each_wide<V, W>(0, lanes, [&](auto wide, std::size_t lane) {
                     constexpr auto deep = deep_of<wide.value>;
                     for (std::size_t d = 0; d < it.kv.dim; d += deep)
                       mix_some<V, W, deep, wide.value>(weights + lane, lanes,
                                                        values + d, count, it.kv.dim,
                                                        rooms.sums + d * lanes + lane);
                   });
                 });
}

template <class V, std::size_t Count>
void mix_few(const attention_view& it, const attend_rooms& rooms, std::size_t begin,
             std::size_t end) {
  each_rows<V>(it.kv, it.kv.values, begin, end,
               [&](const std::byte* rows, std::size_t position, std::size_t count) {
                 const auto* weights = rooms.scores + (position - begin) * few;
                 if (it.kv.type == kv_type::f16)
                   mix_columns<V, Count>(weights,
                                         reinterpret_cast<const std::uint16_t*>(rows),
                                         count, it.kv.dim, rooms.sums);
                 else
                   mix_columns<V, Count>(weights, reinterpret_cast<const float*>(rows),
                                         count, it.kv.dim, rooms.sums);
               });
}

/// Positions [begin, end), which lie in one tile.
template <class V, std::size_t W>
void attend_tile(const attention_view& it, const attend_rooms& rooms, std::size_t begin,
                 std::size_t end) {
  score_tile<V, W>(it, rooms, begin, end);
  hide<V>(rooms, begin, end);
  weigh<V, W>(rooms, end - begin);
  scale_sums<V>(rooms, it.kv.dim);
  if (rooms.lanes != few)
    return mix_tile<V, W>(it, rooms, begin, end);
  switch (it.tokens * it.group) {
    case 1: return mix_few<V, 1>(it, rooms, begin, end);
    case 2: return mix_few<V, 2>(it, rooms, begin, end);
    case 3: return mix_few<V, 3>(it, rooms, begin, end);
    default: return mix_few<V, few>(it, rooms, begin, end);
  }
}

/// Divides by the sum of weights, and makes rows of columns again.
template <class V>
void end_attention(const attention_view& it, const attend_rooms& rooms) {
  bool is_few = rooms.lanes == few;
  auto next_column = is_few ? 1 : rooms.lanes;
  auto next_query = is_few ? it.kv.dim : 1;
  for (std::size_t query = 0; query < it.tokens * it.group; ++query) {
    auto* to = it.out + query / it.group * it.out_stride + query % it.group * it.kv.dim;
    const auto* from = rooms.sums + query * next_query;
    auto scale = 1.0F / rooms.weights[query];
    for (std::size_t d = 0; d < it.kv.dim; ++d)
      to[d] = from[d * next_column] * scale;
  }
}

template <class V, std::size_t W>
void attend_by(const attention_view& it) {
  auto dim = it.kv.dim;
  auto lanes = (it.tokens * it.group + W - 1) / W * W;
  auto* free = it.scratch;
  auto take = [&](std::size_t size) {
    free += size;
    return free - size;
  };
  attend_rooms rooms{};
  rooms.lanes = lanes;
  rooms.queries = take(dim * lanes);
  rooms.sums = take(dim * lanes);
  rooms.scores = take(tile_positions * lanes);
  for (auto* row :
       {&rooms.most, &rooms.weights, &rooms.scales, &rooms.begins, &rooms.ends})
    *row = take(lanes);
  rooms.kv = take(positions_widened * dim);
  begin_attention<V>(it, rooms);
  auto begin = static_cast<std::size_t>(rooms.begins[0]);
  auto end = it.first_position + it.tokens;
  while (begin < end) {
    auto next = (begin / tile_positions + 1) * tile_positions;
    attend_tile<V, W>(it, rooms, begin, next < end ? next : end);
    begin = next;
  }
  end_attention<V>(it, rooms);
}

/// By the shortest vectors that hold all queries, or the longest there are.
template <class V>
void attend(const attention_view& it) {
  auto count = it.tokens * it.group;
  if constexpr (V::width > few)
    if (count <= few)
      return attend_by<V, few>(it);
  if constexpr (V::width > 8)
    if (count <= 8)
      return attend_by<V, 8>(it);
  attend_by<V, V::width>(it);
}

} // namespace perigee::engine::cpu
