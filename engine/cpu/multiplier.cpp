#include "engine/cpu/multiplier.hpp"

namespace perigee::engine::cpu {
namespace {

/// Tiles to a call: enough of them to be worth a call, few enough to stay in the cache
/// while all tokens pass.
constexpr std::size_t tiles_a_call = 4;

bool needs(const stacked_matrix& by, operand_form form) {
  return std::any_of(by.parts().begin(), by.parts().end(),
                     [&](const auto& part) { return form_of(part.type()) == form; });
}

bool needs(const weights& model, operand_form form) {
  return needs(model.output, form)
         || std::any_of(model.layers.begin(), model.layers.end(), [&](const auto& one) {
              return needs(one.query_key_value, form) || needs(one.attention_out, form)
                     || needs(one.gate_up, form) || needs(one.down, form);
            });
}

operand room_for(const weights& model, operand_form form, std::size_t tokens_max) {
  const auto& shape = model.shape;
  if (!needs(model, form))
    return {};
  return {tokens_max, std::max({shape.width, shape.query_width(), shape.ffn_width})};
}

} // namespace

multiplier::multiplier(const weights& model, const kernel_set& kernels,
                       thread_pool& pool, std::size_t tokens_max)
  : kernels_{kernels}, pool_{pool}, int8_{room_for(model, operand_form::int8_blocks,
                                                   tokens_max)},
    floats_{room_for(model, operand_form::floats, tokens_max)} {}

multiplier::views multiplier::views_of(const stacked_matrix& by, rows input) {
  prepared_ = {};
  if (needs(by, operand_form::int8_blocks))
    prepared_.int8 = int8_.view(operand_form::int8_blocks, input.count, input.width);
  if (needs(by, operand_form::floats))
    prepared_.floats = floats_.view(operand_form::floats, input.count, input.width);
  return prepared_;
}

void multiplier::multiply(const stacked_matrix& by, const float_matrix& output) {
  pool_.run(
    by.tiles(), tiles_a_call, [&](std::size_t begin, std::size_t end, std::size_t) {
      by.each_part(begin, end,
                   [&](const packed_matrix& part, std::size_t row, std::size_t from,
                       std::size_t to) {
                     const auto& x = form_of(part.type()) == operand_form::floats
                                       ? prepared_.floats
                                       : prepared_.int8;
                     kernels_.product(part.view(), x, from, to,
                                      {output.row(0) + row, output.width()});
                   });
    });
}

} // namespace perigee::engine::cpu
