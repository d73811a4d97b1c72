/// \file
/// weights: a model's numbers, ready to be run.
#pragma once

#include "engine/cpu/model_shape.hpp"
#include "engine/cpu/stacked_matrix.hpp"
#include "engine/gguf/gguf.hpp"
#include "engine/model_info.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace perigee::engine::cpu {

/// Names in parentheses: of the tensors, after "blk.N.".
struct layer_weights {
  std::vector<float> attention_norm;      ///< (attn_norm)
  stacked_matrix query_key_value;         ///< (attn_q, attn_k, attn_v)
  std::vector<float> query_norm;          ///< (attn_q_norm) gemma3; else empty
  std::vector<float> key_norm;            ///< (attn_k_norm) gemma3; else empty
  stacked_matrix attention_out;           ///< (attn_output)
  std::vector<float> attention_post_norm; ///< (post_attention_norm) gemma3; else empty
  std::vector<float> ffn_norm;            ///< (ffn_norm)
  stacked_matrix gate_up;                 ///< (ffn_gate, ffn_up)
  stacked_matrix down;                    ///< (ffn_down)
  std::vector<float> ffn_post_norm;       ///< (post_ffw_norm) gemma3; else empty
};

/// Immutable: any number of engines may share it.
struct weights {
  std::shared_ptr<const gguf::file> file;
  model_shape shape;
  model_info info;
  const gguf::tensor* embedding = nullptr; ///< In the file, a row a token.
  std::vector<layer_weights> layers;
  std::vector<float> output_norm;
  stacked_matrix output;

  /// By which the angle of each pair is divided; empty if by nothing.
  std::vector<float> rope_factors;

  /// Of the matrices, that a forward pass of one token reads.
  std::size_t bytes() const;

  /// Of the matrices, that a forward pass of one token does: one for each weight.
  std::size_t multiply_adds() const;
};

/// Told how many bytes of the tensors are done, of how many.
using load_progress = std::function<void(std::size_t done, std::size_t total)>;

/// Maps the file and packs its matrices; takes about a second for a gigabyte, and the
/// digest as long again. Whatever is missing, has another shape than the rest of the
/// model wants, or isn't part of the architecture fails, naming the tensor.
gguf::found<std::shared_ptr<const weights>> load(const std::string& path,
                                                 const load_progress& progress = {});

/// As above, of a file that is open already.
gguf::found<std::shared_ptr<const weights>> load(std::shared_ptr<const gguf::file> file,
                                                 const load_progress& progress = {});

} // namespace perigee::engine::cpu
