#include "engine/cpu/weights.hpp"

#include "engine/cpu/numeric_profile.hpp"
#include "engine/cpu/tensor_loader.hpp"

namespace perigee::engine::cpu {
namespace {

layer_weights load_layer(tensor_loader& from, const model_shape& shape,
                         std::size_t index) {
  auto name = [&](const char* what) {
    return "blk." + std::to_string(index) + "." + what + ".weight";
  };
  layer_weights layer;
  layer.attention_norm = from.vector(name("attn_norm"), shape.width);
  layer.query_key_value
    = from.matrix(shape.width, {{name("attn_q"), shape.query_width()},
                                {name("attn_k"), shape.kv_width()},
                                {name("attn_v"), shape.kv_width()}});
  layer.attention_out
    = from.matrix(shape.query_width(), {{name("attn_output"), shape.width}});
  layer.ffn_norm = from.vector(name("ffn_norm"), shape.width);
  layer.gate_up = from.matrix(shape.width, {{name("ffn_gate"), shape.ffn_width},
                                            {name("ffn_up"), shape.ffn_width}});
  layer.down = from.matrix(shape.ffn_width, {{name("ffn_down"), shape.width}});
  if (shape.kind == architecture::gemma3) {
    layer.query_norm = from.vector(name("attn_q_norm"), shape.head_dim);
    layer.key_norm = from.vector(name("attn_k_norm"), shape.head_dim);
    layer.attention_post_norm = from.vector(name("post_attention_norm"), shape.width);
    layer.ffn_post_norm = from.vector(name("post_ffw_norm"), shape.width);
  }
  return layer;
}

model_info info_of(const weights& it) {
  model_info info;
  info.name = it.shape.name;
  info.architecture = it.shape.architecture_name;
  info.layers = static_cast<std::uint32_t>(it.shape.layers);
  info.kv_heads = static_cast<std::uint32_t>(it.shape.kv_heads);
  info.head_dim = static_cast<std::uint32_t>(it.shape.head_dim);
  info.vocabulary = static_cast<std::uint32_t>(it.shape.vocabulary);
  info.context_tokens_max = static_cast<std::uint32_t>(it.shape.context_tokens_max);
  info.digest = digest_with_profile(it.file->digest());
  return info;
}

template <class Sum>
std::size_t sum_of_matrices(const weights& it, Sum of) {
  auto sum = of(it.output);
  for (const auto& layer : it.layers)
    sum += of(layer.query_key_value) + of(layer.attention_out) + of(layer.gate_up)
           + of(layer.down);
  return sum;
}

} // namespace

std::size_t weights::bytes() const {
  return sum_of_matrices(*this, [](const stacked_matrix& one) { return one.bytes(); });
}

std::size_t weights::multiply_adds() const {
  return sum_of_matrices(*this, [](const stacked_matrix& one) {
    return one.rows() * one.parts().front().columns();
  });
}

gguf::found<std::shared_ptr<const weights>> load(const std::string& path,
                                                 const load_progress& progress) {
  auto file = gguf::file::open(path);
  if (!file)
    return failure(file.error());
  return load(std::move(*file), progress);
}

gguf::found<std::shared_ptr<const weights>> load(std::shared_ptr<const gguf::file> file,
                                                 const load_progress& progress) {
  auto shape = read_model_shape(*file);
  if (!shape)
    return failure(shape.error());
  auto it = std::make_shared<weights>();
  it->file = std::move(file);
  it->shape = *shape;
  tensor_loader from{*it->file, progress};
  for (std::size_t i = 0; i < shape->layers && !from.has_failed(); ++i)
    it->layers.push_back(load_layer(from, *shape, i));
  it->output_norm = from.vector("output_norm.weight", shape->width);
  it->embedding = from.tensor("token_embd.weight", shape->width, shape->vocabulary);
  const char* output
    = from.has("output.weight") ? "output.weight" : "token_embd.weight";
  it->output = from.matrix(shape->width, {{output, shape->vocabulary}});
  if (from.has("rope_freqs.weight"))
    it->rope_factors = from.vector("rope_freqs.weight", shape->rope_dimensions / 2);
  if (auto fault = from.fault())
    return failure(*fault);
  it->info = info_of(*it);
  return std::shared_ptr<const weights>{std::move(it)};
}

} // namespace perigee::engine::cpu
