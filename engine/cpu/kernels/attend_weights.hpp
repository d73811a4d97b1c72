/// \file
/// attend_weights: what becomes of scores: a softmax that goes on from tile to tile.
/// `V` makes each file's copy its own, see product.hpp.
#pragma once

#include "engine/cpu/kernels/attend_rooms.hpp"

namespace perigee::engine::cpu {

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

} // namespace perigee::engine::cpu
