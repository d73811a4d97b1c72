/// \file
/// multiplier: tokens times stacked matrices, on all threads.
#pragma once

#include "engine/cpu/float_matrix.hpp"
#include "engine/cpu/kernels/kernels.hpp"
#include "engine/cpu/kernels/operand.hpp"
#include "engine/cpu/stacked_matrix.hpp"
#include "engine/cpu/thread_pool.hpp"
#include "engine/cpu/weights.hpp"

#include <algorithm>
#include <cstddef>

namespace perigee::engine::cpu {

class multiplier {
public:
  /// For up to `tokens_max` tokens of `model`.
  multiplier(const weights& model, const kernel_set& kernels, thread_pool& pool,
             std::size_t tokens_max);

  /// Makes the rows of `input` ready for `by`, after `fill(begin, end)` has written
  /// rows [begin, end) of them. `fill` runs on any thread, once for each row.
  template <class Fill>
  void prepare(const stacked_matrix& by, rows input, Fill&& fill) {
    auto forms = views_of(by, input);
    pool_.run(token_tiles(input.count), 1,
              [&](std::size_t begin, std::size_t end, std::size_t) {
                fill(begin * tile_tokens, std::min(end * tile_tokens, input.count));
                for (const auto* view : {&forms.int8, &forms.floats})
                  if (view->data != nullptr)
                    kernels_.prepare(input, *view, begin, end);
              });
  }

  /// Multiplies what was prepared last: output[t][r] for each row r of `by`.
  void multiply(const stacked_matrix& by, const float_matrix& output);

private:
  struct views {
    operand_view int8;
    operand_view floats;
  };

  views views_of(const stacked_matrix& by, rows input);

  const kernel_set& kernels_;
  thread_pool& pool_;
  operand int8_;
  operand floats_;
  views prepared_;
};

} // namespace perigee::engine::cpu
