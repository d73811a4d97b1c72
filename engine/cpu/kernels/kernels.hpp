/// \file
/// kernels: the arithmetic of a forward pass, for each width of vectors.
///
/// All sets give the same bits for the same arguments: whoever computes may choose any.
/// What each function adds up, it adds in an order that its own arguments fix: never
/// the vector width, the company of other rows or tokens, or how work was cut.
#pragma once

#include "engine/cpu/kernels/views.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace perigee::engine::cpu {

/// Functions over the caller's memory. None allocates, locks, throws or keeps a
/// pointer; all may run on many threads at once as long as what they write is disjoint.
/// Floats need no alignment. "In lanes" means: element i is added to lane i % 8, in
/// order; then
/// ((0+1)+(2+3))+((4+5)+(6+7)).
struct kernel_set {
  /// "portable", "avx2" or "avx512".
  const char* name;

  /// Makes token tiles [begin, end) of `into` from `x`, for products with matrices of
  /// `into.form`. `x` has `into.tokens` rows of `into.columns`.
  ///
  /// int8_blocks: each block of 32 becomes scale * int8: scale = max|x| / 127, rounding
  /// to nearest even. A block with a NaN or an infinity makes all it touches NaN.
  /// Cost: reads x once, writes 1.6 bytes a number.
  void (*prepare)(rows x, operand_view into, std::size_t begin, std::size_t end);

  /// y[t][r] = sum over columns of weights[r][c] * x[t][c], for every token t of `x`
  /// and the rows r of tiles [begin, end) of `weights`. Writes these numbers alone.
  ///
  /// `x` was prepared whole, in the matrix's form and with its number of columns.
  ///
  /// Quantized weights: exact integer sums over blocks of 32 columns, times both
  /// scales, added up in column order. Float weights: each block of 32 columns is added
  /// up in column order, then the blocks.
  ///
  /// Cost: reads the tiles once for every 8 tokens if they fit into the cache, else
  /// more often: give several calls fewer tiles rather than one call all. Reference:
  /// product_ref() in tests/engine/cpu/kernels/.
  void (*product)(const matrix_view& weights, const operand_view& x, std::size_t begin,
                  std::size_t end, rows_out y);

  /// out[i] = x[i] / sqrt(mean(x^2) + epsilon) * weight[i]; squares are summed in
  /// lanes. `out` may be `x`.
  void (*rms_norm)(const float* x, const float* weight, std::size_t n, float epsilon,
                   float* out);

  /// x[i] += y[i].
  void (*add)(float* x, const float* y, std::size_t n);

  /// x[i] *= factor.
  void (*scale)(float* x, float factor, std::size_t n);

  /// out[i] = silu(gate[i]) * up[i], silu(x) = x / (1 + exp(-x)). `out` may be either.
  void (*silu_product)(const float* gate, const float* up, std::size_t n, float* out);

  /// The same with gelu(x) = x / (1 + exp(-2 * sqrt(2/pi) * (x + 0.044715 * x^3))),
  /// which is the tanh approximation.
  void (*gelu_product)(const float* gate, const float* up, std::size_t n, float* out);

  /// Turns the pairs (x[2i], x[2i + 1]), i < pairs, by the angle whose cosine and sine
  /// are cosine[i] and sine[i]: (a * c - b * s, a * s + b * c). For `llama` files.
  void (*rope_adjacent)(float* x, const float* cosine, const float* sine,
                        std::size_t pairs);

  /// The same for the pairs (x[i], x[i + pairs]). For `gemma3` files.
  void (*rope_halves)(float* x, const float* cosine, const float* sine,
                      std::size_t pairs);

  /// For each query: softmax over the positions it sees of (its product with their
  /// keys) times the factor, and the sum of their values by these weights.
  ///
  /// Queries are scaled first. Products are added up column by column, weights and
  /// weighted values position by position; at every multiple of 256 positions, what was
  /// added up is scaled to the highest score by then. So a query's result depends on
  /// its own position alone, not on which tokens come with it. Reads nothing outside
  /// the positions that one of the queries sees.
  ///
  /// Cost: reads the KV once for all queries of the call. About 2 * dim products and
  /// sums for each query and position; 48 queries fill the registers of every set.
  void (*attend)(const attention_view& it);

  /// To nearest even; what is too large becomes an infinity; NaN stays NaN.
  void (*to_f16)(const float* x, std::size_t n, std::uint16_t* out);

  /// Exact.
  void (*from_f16)(const std::uint16_t* x, std::size_t n, float* out);
};

/// Floats of scratch that attend() needs for `queries` queries of `dim` columns.
constexpr std::size_t attention_scratch(std::size_t queries, std::size_t dim) {
  auto lanes = (queries + 15) / 16 * 16;
  return lanes * (2 * dim + tile_positions + 5) + positions_widened * dim;
}

/// The sets that this processor can run, slowest first: at least the portable one.
std::span<const kernel_set* const> available();

/// The last of available().
const kernel_set& fastest();

/// The one of that name; null if there is none here.
const kernel_set* kernels_named(std::string_view name);

} // namespace perigee::engine::cpu
