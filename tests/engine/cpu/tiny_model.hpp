/// \file
/// tiny_model: models of random numbers, small enough to run anywhere.
#pragma once

#include "engine/cpu/weights.hpp"
#include "tests/engine/gguf/gguf_writer.hpp"
#include "tests/engine/gguf/random_weights.hpp"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace perigee::engine::cpu {

/// What a tiny model is made of; the defaults are a `llama`.
struct tiny_model {
  std::string architecture = "llama";
  gguf::tensor_type type = gguf::tensor_type::q4_1; ///< Of the matrices.
  std::uint32_t layers = 3;
  std::uint32_t width = 64;
  std::uint32_t heads = 4;
  std::uint32_t kv_heads = 2;
  std::uint32_t head_dim = 16;
  std::uint32_t ffn_width = 96;
  std::uint32_t vocabulary = 150;
  std::uint32_t context = 512;
  std::uint32_t window = 24; ///< For gemma3.
  bool is_tied = false;
  std::uint32_t seed = 1;

  /// Called with the writer when the keys were written, before the tensors.
  std::function<void(gguf::gguf_writer&)> more;

  /// May change the extents of a tensor, or leave it out by clearing them.
  std::function<void(const std::string& name, std::vector<std::uint64_t>& extents)>
    warp;
};

inline tiny_model tiny_gemma3() {
  tiny_model it;
  it.architecture = "gemma3";
  it.type = gguf::tensor_type::q5_0;
  it.layers = 7; // the sixth sees everything
  it.kv_heads = 1;
  it.head_dim = 32;
  it.is_tied = true;
  return it;
}

class tiny_model_writer {
public:
  explicit tiny_model_writer(tiny_model how)
    : how_{std::move(how)}, random_{how_.seed} {}

  gguf::gguf_writer write() {
    keys();
    if (how_.more)
      how_.more(to_);
    matrix("token_embd", how_.width, how_.vocabulary, gguf::tensor_type::q8_0);
    for (std::uint32_t layer = 0; layer < how_.layers; ++layer)
      add_layer("blk." + std::to_string(layer) + ".");
    vector("output_norm", how_.width);
    if (!how_.is_tied)
      matrix("output", how_.width, how_.vocabulary, how_.type);
    return std::move(to_);
  }

private:
  void keys() {
    auto key = [&](const char* name) { return how_.architecture + "." + name; };
    to_.text("general.architecture", how_.architecture);
    to_.text("general.name", "tiny");
    to_.number(key("block_count"), how_.layers);
    to_.number(key("embedding_length"), how_.width);
    to_.number(key("feed_forward_length"), how_.ffn_width);
    to_.number(key("context_length"), how_.context);
    to_.number(key("attention.head_count"), how_.heads);
    to_.number(key("attention.head_count_kv"), how_.kv_heads);
    to_.number(key("attention.key_length"), how_.head_dim);
    to_.number(key("attention.value_length"), how_.head_dim);
    to_.real(key("attention.layer_norm_rms_epsilon"), 1e-5f);
    to_.real(key("rope.freq_base"), 50'000);
    if (how_.architecture == "gemma3")
      to_.number(key("attention.sliding_window"), how_.window);
  }

  void add_layer(const std::string& at) {
    auto query = how_.heads * how_.head_dim;
    auto kv = how_.kv_heads * how_.head_dim;
    vector(at + "attn_norm", how_.width);
    matrix(at + "attn_q", how_.width, query, how_.type);
    matrix(at + "attn_k", how_.width, kv, how_.type);
    matrix(at + "attn_v", how_.width, kv, gguf::tensor_type::q8_0); // as real files mix
    matrix(at + "attn_output", query, how_.width, how_.type);
    vector(at + "ffn_norm", how_.width);
    matrix(at + "ffn_gate", how_.width, how_.ffn_width, how_.type);
    matrix(at + "ffn_up", how_.width, how_.ffn_width, how_.type);
    matrix(at + "ffn_down", how_.ffn_width, how_.width, how_.type);
    if (how_.architecture != "gemma3")
      return;
    vector(at + "attn_q_norm", how_.head_dim);
    vector(at + "attn_k_norm", how_.head_dim);
    vector(at + "post_attention_norm", how_.width);
    vector(at + "post_ffw_norm", how_.width);
  }

  void matrix(const std::string& name, std::uint64_t columns, std::uint64_t rows,
              gguf::tensor_type type) {
    add(name + ".weight", {columns, rows}, type, 0.2f);
  }

  void vector(const std::string& name, std::uint64_t size) {
    add(name + ".weight", {size}, gguf::tensor_type::f32, 2.0f);
  }

  void add(const std::string& name, std::vector<std::uint64_t> extents,
           gguf::tensor_type type, float size) {
    if (how_.warp)
      how_.warp(name, extents);
    if (extents.empty())
      return;
    std::size_t count = 1;
    for (auto extent : extents)
      count *= extent;
    to_.tensor(name, type, extents, gguf::random_weights(type, count, size, random_));
  }

  tiny_model how_;
  std::mt19937 random_;
  gguf::gguf_writer to_;
};

/// Loads the model through a file, which is gone afterwards.
inline gguf::found<std::shared_ptr<const weights>> load_tiny(const tiny_model& how) {
  static int files = 0;
  auto path = std::filesystem::temp_directory_path()
              / ("perigee-tiny-" + std::to_string(::getpid()) + "-"
                 + std::to_string(++files) + ".gguf");
  tiny_model_writer{how}.write().save(path.string());
  auto loaded = load(path.string());
  std::filesystem::remove(path);
  return loaded;
}

} // namespace perigee::engine::cpu
