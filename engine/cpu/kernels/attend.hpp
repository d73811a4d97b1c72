/// \file
/// attend: attention of a few tokens to all positions that they see. `V` makes each
/// file's copy its own, see product.hpp.
#pragma once

#include "engine/cpu/kernels/attend_weights.hpp"
#include "engine/cpu/kernels/kv_rows.hpp"

namespace perigee::engine::cpu {

/// Puts the scores of positions [begin, end) into their rows.
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

/// Adds up values of positions [begin, end), by their weights.
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

/// The same for Count queries, which are few.
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

/// By vectors of W queries, tile after tile.
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
