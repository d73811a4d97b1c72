/// \file
/// forward_pass: from a batch's tokens to what follows them.
#pragma once

#include "engine/cpu/float_matrix.hpp"
#include "engine/cpu/kernels/kernels.hpp"
#include "engine/cpu/layer_kv.hpp"
#include "engine/cpu/multiplier.hpp"
#include "engine/cpu/rope_table.hpp"
#include "engine/cpu/thread_pool.hpp"
#include "engine/cpu/weights.hpp"
#include "engine/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace perigee::engine::cpu {

/// Runs batches, which must be sound, over an arena.
///
/// The layers are walked once for all tokens; within a layer the tokens go piece by
/// piece, so that what lies between two matrices stays in the cache. Every number of a
/// token is a function of its sequence alone: products, norms and attention treat each
/// token by itself, whatever piece or thread it falls to.
class forward_pass {
public:
  forward_pass(std::shared_ptr<const weights> model, const kernel_set& kernels,
               thread_pool& pool, arena_view arena, std::size_t batch_tokens_max);

  result<void, run_fault> run(std::span<slice> batch, const layer_hooks& hooks);

private:
  /// One token of the batch.
  struct fed {
    token_id token = 0;
    std::uint32_t slice = 0;
    std::uint32_t position = 0;
    bool wants_logits = false;
  };

  const model_shape& shape() const {
    return model_->shape;
  }

  void list(std::span<const slice> batch);
  void embed();
  void fill_turns();
  void run_layer(std::size_t index, const layer_hooks& hooks);

  // On the rows of one piece.
  void project(const layer_weights& layer);
  void store(std::size_t index);
  void turn_and_store(std::size_t index, std::size_t row);
  void keep_wanted();
  void attend(std::size_t index);
  void add_attention(std::size_t index, std::size_t first_row, std::size_t count);
  void close_attention(const layer_weights& layer);
  void feed_forward(const layer_weights& layer);
  void add_branch(const std::vector<float>& post_norm, std::size_t row);

  void answer();
  void answer_rows(std::span<const std::uint32_t> tokens);

  std::shared_ptr<const weights> model_;
  const kernel_set& kernels_;
  thread_pool& pool_;
  arena_view arena_;
  multiplier multiplier_;
  rope_table rope_;
  rope_table rope_windowed_;

  std::span<slice> batch_;
  std::vector<fed> fed_;
  float_matrix x_;              // the residual stream, a row a token of the batch
  float_matrix turns_;          // of each of them: cosines, then sines
  float_matrix turns_windowed_; // of layers with a window

  std::vector<std::uint32_t>
    piece_; // the tokens of a piece, a row each in what follows
  float_matrix normed_;
  float_matrix projected_; // queries, keys, values
  float_matrix attended_;
  float_matrix branch_; // what is added to the residual stream
  float_matrix gate_up_;
  float_matrix logits_;
  float_matrix scratch_; // of attention, a row a thread
  std::vector<attention_view> attention_;
};

} // namespace perigee::engine::cpu
