/// \file
/// kv_rows: walks over keys or values, block by block. `V` makes each file's copy its
/// own, see product.hpp.
#pragma once

#include "engine/cpu/kernels/elementwise.hpp"
#include "engine/cpu/kernels/views.hpp"

namespace perigee::engine::cpu {

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

} // namespace perigee::engine::cpu
