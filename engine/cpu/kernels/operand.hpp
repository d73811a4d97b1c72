/// \file
/// operand: the tokens of a batch, ready to be multiplied by weights.
#pragma once

#include "engine/cpu/kernels/aligned_bytes.hpp"
#include "engine/cpu/kernels/views.hpp"

#include <cstddef>

namespace perigee::engine::cpu {

/// Memory for prepared tokens, used again and again.
///
///     operand x(batch_max, widest);
///     auto seen = x.view(form_of(w.type()), tokens, w.columns());
///     pool.run(token_tiles(tokens), 1, [&](auto begin, auto end, auto) {
///       k.prepare(input, seen, begin, end);
///     });
///     pool.run(w.tiles(), 1, [&](auto begin, auto end, auto) {
///       k.product(w.view(), seen, begin, end, output);
///     });
///
/// Tokens lie in tiles of 8, the last of which may have fewer (r). A tile is a run of
/// blocks of 32 columns; the columns that the last block lacks are zero.
///
/// A block of each form:
/// - `int8_blocks`: [r][32] i8, [r] f32 scale, [r] f32 scale * sum, [r] i32 -sum,
///   [r] i32 -sum of the first 16, [r] i32 -sum of the last 16;
/// - `floats`:
///   [32][r] f32.
class operand {
public:
  operand() = default;

  /// Room for `tokens_max` tokens of up to `columns_max` numbers, in either form.
  operand(std::size_t tokens_max, std::size_t columns_max);

  /// For `tokens` tokens of `columns`, which must fit. What was prepared before is
  /// lost.
  operand_view view(operand_form form, std::size_t tokens, std::size_t columns);

private:
  aligned_bytes memory_;
};

/// How many tiles `tokens` tokens are to prepare().
constexpr std::size_t token_tiles(std::size_t tokens) {
  return (tokens + tile_tokens - 1) / tile_tokens;
}

} // namespace perigee::engine::cpu
