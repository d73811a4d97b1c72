/// \file
/// attend_rooms: attention's scratch, and how queries get in and what they found out.
/// `V` makes each file's copy its own, see product.hpp.
#pragma once

#include "engine/cpu/kernels/attend_sums.hpp"
#include "engine/cpu/kernels/views.hpp"

namespace perigee::engine::cpu {

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

} // namespace perigee::engine::cpu
