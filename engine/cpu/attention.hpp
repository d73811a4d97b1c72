/// \file
/// attention: over keys and values that lie in an arena's blocks.
#pragma once

#include "engine/cpu/kernels/kernels.hpp"
#include "engine/cpu/layer_kv.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace perigee::engine::cpu {

/// What some tokens of one sequence, at consecutive positions, ask of one KV head.
struct attention_item {
  layer_kv kv;
  std::span<const std::uint32_t> blocks; ///< The sequence's table.
  std::uint32_t first_position = 0;
  std::size_t tokens = 0;
  std::size_t kv_head = 0;
  std::size_t group = 1;  ///< Query heads to this KV head.
  std::size_t window = 0; ///< Positions that a token sees, its own the last; 0: all.
  float factor = 1;       ///< Of the scores.

  /// The first token's queries of this head, `[group][head_dim]`, and where what they
  /// find goes; each token `stride` floats after the one before.
  const float* queries = nullptr;
  std::size_t query_stride = 0;
  float* out = nullptr;
  std::size_t out_stride = 0;
};

/// Tokens to put in one item, so that its scores stay in the cache; at least 1. What
/// comes out doesn't depend on it.
std::size_t attention_tokens(std::size_t positions, std::size_t group);

/// One thread's attention; keeps its memory.
///
/// Every query is answered by itself: scores over its positions in order, softmax over
/// them, values added up position by position. Reads no position that the mask hides
/// beyond the last token of the item, so nothing else that may lie in a block matters.
class attention {
public:
  explicit attention(const kernel_set& kernels) : kernels_{&kernels} {}

  void run(const attention_item& item);

private:
  struct range {
    std::size_t begin;
    std::size_t end;
  };

  static range visible(const attention_item& item, std::size_t token);
  void gather_queries(const attention_item& item);
  void score(const attention_item& item);
  void mix(const attention_item& item);
  void mix_block(const attention_item& item, std::size_t first_token,
                 std::size_t tokens, range positions);

  const kernel_set* kernels_;
  std::vector<float> queries_; // [token][group][dim]
  std::vector<float> scores_;  // [token][group][stride_], from position begin_ on
  std::vector<float> out_;     // [token][group][dim]
  std::size_t begin_ = 0;
  std::size_t stride_ = 0;
};

} // namespace perigee::engine::cpu
