#include "engine/cpu/kernels/operand.hpp"

#include "engine/cpu/kernels/layout.hpp"
#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::engine::cpu {
namespace {

std::size_t bytes_of(operand_form form, std::size_t tokens, std::size_t columns) {
  auto blocks = (columns + block_columns - 1) / block_columns;
  return tokens * blocks
         * (form == operand_form::floats ? float_block_bytes : int8_block_bytes);
}

} // namespace

operand::operand(std::size_t tokens_max, std::size_t columns_max)
  : memory_(std::max(bytes_of(operand_form::floats, tokens_max, columns_max),
                     bytes_of(operand_form::int8_blocks, tokens_max, columns_max))) {}

operand_view operand::view(operand_form form, std::size_t tokens, std::size_t columns) {
  PERIGEE_ASSERT(bytes_of(form, tokens, columns) <= memory_.size(),
                 "more tokens or columns than there is room for");
  return {form, tokens, columns, memory_.data()};
}

} // namespace perigee::engine::cpu
