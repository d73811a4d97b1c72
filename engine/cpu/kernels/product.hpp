/// \file
/// Products of packed matrices by prepared tokens, for any width of vectors.
///
/// Everything here is a template over the vectors, `V`, which are a type of their own
/// in each file that includes this: so each has its own copy, compiled for its
/// processor.
#pragma once

#include "engine/cpu/kernels/layout.hpp"
#include "engine/cpu/kernels/unrolled.hpp"

namespace perigee::engine::cpu {

/// What the loops need to know of a quantized type at compile time.
template <gguf::tensor_type Type>
struct traits {
  using enum gguf::tensor_type;
  static constexpr tile_layout layout = layout_of(Type);
  static constexpr bool is_float = Type == f32 || Type == f16 || Type == bf16;
  static constexpr bool is_byte = Type == q8_0;
  static constexpr bool has_minimum
    = Type == q4_1 || Type == q5_1 || Type == q4_k || Type == q5_k;
  static constexpr bool has_halves = Type == q6_k; // a scale for each 16 columns
  static constexpr bool is_k = layout.super != 0;

  /// Bits of a quant, and by how many of them the sum of tokens is shifted to make up
  /// for quants being stored without sign.
  static constexpr int bits = is_byte                      ? 8
                              : layout.high == 0           ? 4
                              : layout.high == group_bytes ? 5
                                                           : 6;
  static constexpr int offset_shift = bits - 1;
};

/// One block of 32 columns of V::width rows of a tile.
template <class V, gguf::tensor_type Type>
class weight_block {
  using about = traits<Type>;

public:
  /// `part` says which V::width of the 16 rows.
  PERIGEE_INLINE weight_block(const std::byte* tile, std::size_t blocks,
                              std::size_t block, std::size_t part)
    : part_(part), quants_(tile + block * about::layout.quants + part * V::width * 4),
      high_(tile + blocks * about::layout.quants + block * about::layout.high
            + part * V::width * 4),
      scales_(tile + blocks * (about::layout.quants + about::layout.high)
              + block * about::layout.scales),
      super_(tile
             + blocks
                 * (about::layout.quants + about::layout.high + about::layout.scales)
             + block / super_blocks * about::layout.super) {}

  /// Four columns, each row's in its four bytes.
  template <std::size_t Group>
  PERIGEE_INLINE typename V::bytes group() const {
    if constexpr (about::is_byte) {
      return V::load_bytes(quants_ + Group * group_bytes);
    } else {
      auto both = V::load_bytes(quants_ + Group % 4 * group_bytes);
      typename V::bytes low;
      if constexpr (Group < 4)
        low = V::low_nibbles(both);
      else
        low = V::high_nibbles(both);
      if constexpr (about::bits == 5)
        return V::template with_bits<Group, 1>(low, V::load_bytes(high_));
      else if constexpr (about::bits == 6)
        return V::template with_bits<Group % 4 * 2, 3>(
          low, V::load_bytes(high_ + Group / 4 * group_bytes));
      else
        return low;
    }
  }

  PERIGEE_INLINE typename V::real scale() const {
    auto at = part_ * V::width;
    if constexpr (!about::is_k)
      return V::from_halves(scales_ + at * 2);
    else if constexpr (about::has_halves)
      return V::mul(V::from_halves(super_ + at * 2), V::from_i8(scales_ + at));
    else
      return V::mul(V::from_halves(super_ + at * 2), V::from_u8(scales_ + at));
  }

  /// Of the second 16 columns.
  PERIGEE_INLINE typename V::real second_scale() const {
    auto at = part_ * V::width;
    return V::mul(V::from_halves(super_ + at * 2),
                  V::from_i8(scales_ + tile_rows + at));
  }

  PERIGEE_INLINE typename V::real minimum() const {
    auto at = part_ * V::width;
    if constexpr (!about::is_k)
      return V::from_halves(scales_ + (tile_rows + at) * 2);
    else
      return V::mul(V::from_halves(super_ + (tile_rows + at) * 2),
                    V::from_u8(scales_ + tile_rows + at));
  }

private:
  std::size_t part_;
  const std::byte* quants_;
  const std::byte* high_;
  const std::byte* scales_;
  const std::byte* super_;
};

/// The parts of one block of prepared tokens; token t's are at `[t * size]`.
struct token_block {
  const std::byte* quants;
  const std::byte* scale;
  const std::byte* sum; // times scale
  const std::byte* minus_sum;
  const std::byte* minus_halves[2];
};

/// Sums of one block, exactly: quants times tokens over the groups First to First + N.
template <class V, gguf::tensor_type Type, std::size_t Count, std::size_t First,
          std::size_t N>
PERIGEE_INLINE void add_groups(const weight_block<V, Type>& weights,
                               const token_block& tokens, typename V::whole* sums) {
  using about = traits<Type>;
  constexpr std::size_t run
    = V::template groups_max<about::bits> < N ? V::template groups_max<about::bits> : N;
  unrolled<N / run>([&](auto part) {
    typename V::partial open[Count];
    unrolled<Count>(
      [&](auto t) { open[t.value] = V::template open<about::bits>(sums[t.value]); });
    unrolled<run>([&](auto i) {
      // With nibbles, both halves of a vector follow each other if both are wanted.
      constexpr auto k = part.value * run + i.value;
      constexpr auto group = N == 8 && !about::is_byte ? k % 2 * 4 + k / 2 : First + k;
      auto quants = V::template quants<about::bits>(weights.template group<group>());
      unrolled<Count>([&](auto t) {
        open[t.value] = V::dot(open[t.value], quants,
                               tokens.quants + t.value * block_columns + group * 4);
      });
    });
    unrolled<Count>([&](auto t) {
      sums[t.value] = V::template close<about::bits>(sums[t.value], open[t.value]);
    });
  });
}

template <class V, gguf::tensor_type Type, std::size_t Count>
PERIGEE_INLINE void add_block(const weight_block<V, Type>& weights,
                              const token_block& tokens, typename V::real* totals) {
  using about = traits<Type>;
  constexpr auto bits = about::bits;
  typename V::whole sums[Count];
  if constexpr (about::has_halves) {
    typename V::whole more[Count];
    unrolled<Count>([&](auto t) {
      sums[t.value]
        = V::template start<bits>(tokens.minus_halves[0] + t.value * sizeof(float));
      more[t.value]
        = V::template start<bits>(tokens.minus_halves[1] + t.value * sizeof(float));
    });
    add_groups<V, Type, Count, 0, 4>(weights, tokens, sums);
    add_groups<V, Type, Count, 4, 4>(weights, tokens, more);
    auto scale = weights.scale();
    auto second = weights.second_scale();
    unrolled<Count>([&](auto t) {
      auto both = V::add(V::mul(V::to_real(sums[t.value]), scale),
                         V::mul(V::to_real(more[t.value]), second));
      auto worth = V::mul(both, V::broadcast(tokens.scale + t.value * sizeof(float)));
      totals[t.value] = V::add(totals[t.value], worth);
    });
    return;
  }
  unrolled<Count>([&](auto t) {
    if constexpr (about::has_minimum)
      sums[t.value] = V::none();
    else
      sums[t.value]
        = V::template start<bits>(tokens.minus_sum + t.value * sizeof(float));
  });
  add_groups<V, Type, Count, 0, 8>(weights, tokens, sums);
  auto scale = weights.scale();
  unrolled<Count>([&](auto t) {
    auto worth = V::mul(V::mul(V::to_real(sums[t.value]), scale),
                        V::broadcast(tokens.scale + t.value * sizeof(float)));
    totals[t.value] = V::add(totals[t.value], worth);
  });
  if constexpr (about::has_minimum) {
    auto minimum = weights.minimum();
    unrolled<Count>([&](auto t) {
      auto worth = V::mul(minimum, V::broadcast(tokens.sum + t.value * sizeof(float)));
      if constexpr (about::is_k)
        totals[t.value] = V::sub(totals[t.value], worth);
      else
        totals[t.value] = V::add(totals[t.value], worth);
    });
  }
}

/// Where a product begins to read.
struct part_place {
  const std::byte* tile;
  std::size_t part;    ///< Which V::width of the tile's rows.
  std::size_t row;     ///< The first of them.
  std::size_t rows;    ///< From there to the matrix's last.
  bool is_first_visit; ///< Its weights are still in memory, not in the cache.
};

/// Asks for `Bytes` of weights that come some blocks later than those at `at`. Tiles
/// follow each other, so what lies ahead is the rest of this one or the next; asking
/// for what is behind the last does nothing. Processors look ahead by themselves too,
/// but only to the end of a page.
template <std::size_t Bytes>
PERIGEE_INLINE void fetch_ahead(const std::byte* at) {
  constexpr std::size_t distance = 12288;
  for (std::size_t i = 0; i < Bytes; i += 64)
    __builtin_prefetch(at + distance + i);
}

/// V::width rows by Count tokens. `tokens` is the tile they are in, `of` its size, and
/// `first` the first of them.
template <class V, gguf::tensor_type Type, std::size_t Count>
void add_quantized(const part_place& place, std::size_t blocks, const std::byte* tokens,
                   std::size_t of, std::size_t first, typename V::real* totals) {
  constexpr auto layout = traits<Type>::layout;
  constexpr auto block_bytes = layout.quants + layout.high + layout.scales;
  typename V::real kept[Count];
  unrolled<Count>([&](auto t) { kept[t.value] = V::zero(); });
  for (std::size_t block = 0; block < blocks; ++block) {
    if (place.is_first_visit)
      fetch_ahead<block_bytes>(place.tile + block * block_bytes);
    const auto* numbers = tokens + of * block_columns + first * sizeof(float);
    auto next = of * sizeof(float);
    token_block here{tokens + first * block_columns,
                     numbers,
                     numbers + next,
                     numbers + 2 * next,
                     {numbers + 3 * next, numbers + 4 * next}};
    add_block<V, Type, Count>(
      weight_block<V, Type>(place.tile, blocks, block, place.part), here, kept);
    tokens += of * int8_block_bytes;
  }
  unrolled<Count>([&](auto t) { totals[t.value] = kept[t.value]; });
}

template <class V, gguf::tensor_type Type, std::size_t Count>
void add_floats(const part_place& place, std::size_t blocks, const std::byte* tokens,
                std::size_t of, std::size_t first, typename V::real* totals) {
  constexpr auto column_bytes = traits<Type>::layout.quants / block_columns;
  const auto* weights = place.tile + place.part * V::width * (column_bytes / tile_rows);
  tokens += first * sizeof(float);
  typename V::real kept[Count];
  unrolled<Count>([&](auto t) { kept[t.value] = V::zero(); });
  for (std::size_t block = 0; block < blocks; ++block) {
    typename V::real sums[Count];
    unrolled<Count>([&](auto t) { sums[t.value] = V::zero(); });
    for (std::size_t column = 0; column < block_columns; ++column) {
      if (place.is_first_visit)
        fetch_ahead<column_bytes>(weights);
      auto weight = V::template from_floats<Type>(weights);
      unrolled<Count>([&](auto t) {
        auto worth = V::mul(weight, V::broadcast(tokens + t.value * sizeof(float)));
        sums[t.value] = V::add(sums[t.value], worth);
      });
      weights += column_bytes;
      tokens += of * sizeof(float);
    }
    unrolled<Count>(
      [&](auto t) { kept[t.value] = V::add(kept[t.value], sums[t.value]); });
  }
  unrolled<Count>([&](auto t) { totals[t.value] = kept[t.value]; });
}

template <class V, gguf::tensor_type Type, std::size_t Count>
void multiply(const part_place& place, std::size_t blocks, const std::byte* tokens,
              std::size_t of, std::size_t first, float* y, std::size_t stride) {
  typename V::real totals[Count];
  if constexpr (traits<Type>::is_float)
    add_floats<V, Type, Count>(place, blocks, tokens, of, first, totals);
  else
    add_quantized<V, Type, Count>(place, blocks, tokens, of, first, totals);
  for (std::size_t t = 0; t < Count; ++t) {
    auto* to = y + (first + t) * stride + place.row;
    if (place.rows >= V::width) {
      V::store(to, totals[t]);
      continue;
    }
    float all[V::width];
    V::store(all, totals[t]);
    for (std::size_t i = 0; i < place.rows; ++i)
      to[i] = all[i];
  }
}

/// Up to `of` tokens of one tile, V::tokens at a time.
template <class V, gguf::tensor_type Type, std::size_t Count = V::tokens>
void multiply_tile(const part_place& place, std::size_t blocks, const std::byte* tokens,
                   std::size_t of, std::size_t first, float* y, std::size_t stride) {
  for (; first + Count <= of; first += Count)
    multiply<V, Type, Count>(place, blocks, tokens, of, first, y, stride);
  if constexpr (Count > 1)
    if (first < of)
      multiply_tile<V, Type, Count - 1>(place, blocks, tokens, of, first, y, stride);
}

template <class V, gguf::tensor_type Type>
void product_of(const matrix_view& weights, const operand_view& x, std::size_t begin,
                std::size_t end, rows_out y) {
  auto blocks = (weights.columns + block_columns - 1) / block_columns;
  auto token_bytes
    = blocks * (traits<Type>::is_float ? float_block_bytes : int8_block_bytes);
  for (auto tile = begin; tile < end; ++tile) {
    for (std::size_t first = 0; first < x.tokens; first += tile_tokens) {
      auto left = x.tokens - first;
      auto of = left < tile_tokens ? left : tile_tokens;
      for (std::size_t part = 0; part < tile_rows / V::width; ++part) {
        auto row = tile * tile_rows + part * V::width;
        if (row >= weights.rows)
          break;
        part_place place{weights.tiles + tile * weights.tile_bytes, part, row,
                         weights.rows - row, first == 0};
        multiply_tile<V, Type>(place, blocks, x.data + first * token_bytes, of, 0,
                               y.data + first * y.stride, y.stride);
      }
    }
  }
}

template <class V>
void product(const matrix_view& weights, const operand_view& x, std::size_t begin,
             std::size_t end, rows_out y) {
  using enum gguf::tensor_type;
  switch (weights.type) {
    case f32: return product_of<V, f32>(weights, x, begin, end, y);
    case f16: return product_of<V, f16>(weights, x, begin, end, y);
    case bf16: return product_of<V, bf16>(weights, x, begin, end, y);
    case q4_0: return product_of<V, q4_0>(weights, x, begin, end, y);
    case q4_1: return product_of<V, q4_1>(weights, x, begin, end, y);
    case q5_0: return product_of<V, q5_0>(weights, x, begin, end, y);
    case q5_1: return product_of<V, q5_1>(weights, x, begin, end, y);
    case q8_0: return product_of<V, q8_0>(weights, x, begin, end, y);
    case q4_k: return product_of<V, q4_k>(weights, x, begin, end, y);
    case q5_k: return product_of<V, q5_k>(weights, x, begin, end, y);
    case q6_k: return product_of<V, q6_k>(weights, x, begin, end, y);
  }
}

} // namespace perigee::engine::cpu
