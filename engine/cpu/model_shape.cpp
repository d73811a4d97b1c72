#include "engine/cpu/model_shape.hpp"

#include <cmath>

namespace perigee::engine::cpu {
namespace {

using gguf::bad_input;
using gguf::file_fault;

constexpr std::uint64_t layers_max = 1024;
constexpr std::uint64_t width_max = 1u << 16;
constexpr std::uint64_t heads_max = 1024;
constexpr std::uint64_t head_dim_max = 1024;
constexpr std::uint64_t ffn_width_max = 1u << 18;
constexpr std::uint64_t vocabulary_max = 1u << 22;
constexpr std::uint64_t context_max = 1u << 24;
constexpr std::uint64_t no_fallback = ~std::uint64_t{0};

constexpr std::size_t gemma3_window_period = 6;
constexpr double gemma3_rope_base_windowed = 10'000;
constexpr std::size_t gemma3_27b_layers = 62; // it alone scales queries by width

/// Reads keys of one architecture. After the first fault it answers 0, and keeps that.
class key_reader {
public:
  key_reader(const gguf::contents& file, std::string architecture)
    : file_{file}, prefix_{std::move(architecture) + "."} {}

  std::size_t number(const char* key, std::uint64_t lowest, std::uint64_t highest,
                     std::uint64_t fallback = no_fallback) {
    auto name = prefix_ + key;
    auto got
      = fallback == no_fallback ? file_.number(name) : file_.number(name, fallback);
    if (!got)
      return refuse(got.error());
    if (*got < lowest || *got > highest)
      return refuse(
        out_of_range(name, std::to_string(*got),
                     std::to_string(lowest) + " to " + std::to_string(highest)));
    return static_cast<std::size_t>(*got);
  }

  double real(const char* key, double above, double highest, double fallback) {
    auto name = prefix_ + key;
    auto got = file_.real(name, fallback);
    if (!got) {
      refuse(got.error());
      return 0;
    }
    bool is_right = *got >= above && *got <= highest; // false for NaN
    if (!is_right)
      refuse(out_of_range(name, std::to_string(*got),
                          std::to_string(above) + " to " + std::to_string(highest)));
    return is_right ? *got : 0;
  }

  std::string text(const char* key, const char* fallback) {
    auto got = file_.text(prefix_ + key, fallback);
    if (!got) {
      refuse(got.error());
      return {};
    }
    return std::string{*got};
  }

  bool has(const char* key) const {
    return file_.has(prefix_ + key);
  }

  std::size_t refuse(bad_input why) {
    if (!fault_)
      fault_ = std::move(why);
    return 0;
  }

  void refuse_key(const char* key, std::string found, std::string expected) {
    refuse({file_fault::unsupported, file_.name() + ": key '" + prefix_ + key + "'",
            std::move(expected) + ", found " + std::move(found), ""});
  }

  const std::optional<bad_input>& fault() const {
    return fault_;
  }

private:
  bad_input out_of_range(const std::string& name, std::string found,
                         std::string expected) const {
    return {file_fault::malformed, file_.name() + ": key '" + name + "'",
            std::move(expected) + ", found " + std::move(found), ""};
  }

  const gguf::contents& file_;
  std::string prefix_;
  std::optional<bad_input> fault_;
};

void read_extents(key_reader& keys, const gguf::contents& file, model_shape& shape) {
  shape.layers = keys.number("block_count", 1, layers_max);
  shape.width = keys.number("embedding_length", 1, width_max);
  shape.ffn_width = keys.number("feed_forward_length", 1, ffn_width_max);
  shape.context_tokens_max = keys.number("context_length", 1, context_max);
  shape.heads = keys.number("attention.head_count", 1, heads_max);
  shape.kv_heads = keys.number("attention.head_count_kv", 1, heads_max, shape.heads);
  if (keys.fault())
    return;
  shape.head_dim
    = keys.number("attention.key_length", 1, head_dim_max, shape.width / shape.heads);
  auto value_dim
    = keys.number("attention.value_length", 1, head_dim_max, shape.head_dim);
  if (value_dim != shape.head_dim)
    keys.refuse_key("attention.value_length", std::to_string(value_dim),
                    "the same as attention.key_length");
  if (shape.head_dim % 8 != 0)
    keys.refuse_key("attention.key_length", std::to_string(shape.head_dim),
                    "heads that are a multiple of 8 wide");
  if (shape.heads % shape.kv_heads != 0)
    keys.refuse_key("attention.head_count_kv", std::to_string(shape.kv_heads),
                    "a divisor of attention.head_count");
  if (const auto* embedding = file.find("token_embd.weight"))
    shape.vocabulary = embedding->rows();
  else
    keys.refuse(file.get("token_embd.weight").error());
  if (!keys.fault() && (shape.vocabulary < 1 || shape.vocabulary > vocabulary_max))
    keys.refuse({file_fault::malformed, file.name() + ": tensor 'token_embd.weight'",
                 "1 to " + std::to_string(vocabulary_max) + " rows", ""});
}

void read_rope(key_reader& keys, model_shape& shape) {
  shape.rope_dimensions
    = keys.number("rope.dimension_count", 2, head_dim_max, shape.head_dim);
  if (!keys.fault()
      && (shape.rope_dimensions > shape.head_dim || shape.rope_dimensions % 2 != 0))
    keys.refuse_key("rope.dimension_count", std::to_string(shape.rope_dimensions),
                    "an even number, at most the width of a head");
  shape.rope.base = keys.real("rope.freq_base", 1, 1e12, 10'000);
  auto scaling = keys.text("rope.scaling.type", "none");
  if (scaling != "none" && scaling != "linear")
    keys.refuse_key("rope.scaling.type", "'" + scaling + "'", "none or linear");
  const char* factor
    = keys.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  if (scaling == "linear" || keys.has("rope.scale_linear"))
    shape.rope.divisor = keys.real(factor, 1e-3, 1e6, 1);
  shape.rope_windowed = shape.rope;
}

void read_gemma3(key_reader& keys, model_shape& shape) {
  shape.embedding_scale = std::sqrt(static_cast<float>(shape.width));
  if (shape.layers == gemma3_27b_layers && shape.heads > 0) {
    auto head_width = shape.width / shape.heads;
    shape.query_scale = 1.0f / std::sqrt(static_cast<float>(head_width));
  }
  shape.window = keys.number("attention.sliding_window", 1, context_max);
  shape.window_period = gemma3_window_period;
  shape.rope_windowed
    = {keys.real("rope.freq_base_swa", 1, 1e12, gemma3_rope_base_windowed), 1};
  if (keys.has("final_logit_softcapping"))
    shape.logit_cap
      = static_cast<float>(keys.real("final_logit_softcapping", 0, 1e6, 0));
}

gguf::found<architecture> read_architecture(const gguf::contents& file) {
  auto name = file.text("general.architecture");
  if (!name)
    return failure(name.error());
  if (*name == "llama")
    return architecture::llama;
  if (*name == "gemma3")
    return architecture::gemma3;
  return failure(bad_input{file_fault::unsupported,
                           file.name() + ": key 'general.architecture'",
                           "llama or gemma3, found '" + std::string{*name} + "'", ""});
}

std::string file_stem(const std::string& path) {
  auto begin = path.find_last_of('/') + 1;
  auto end = path.find_last_of('.');
  return path.substr(begin, end > begin ? end - begin : end);
}

} // namespace

gguf::found<model_shape> read_model_shape(const gguf::contents& file) {
  auto kind = read_architecture(file);
  if (!kind)
    return failure(kind.error());
  model_shape shape;
  shape.kind = *kind;
  shape.architecture_name = *kind == architecture::llama ? "llama" : "gemma3";
  auto stem = file_stem(file.name());
  if (auto name = file.text("general.name", stem))
    shape.name = std::string{*name};
  key_reader keys{file, shape.architecture_name};
  if (keys.number("expert_count", 0, ~std::uint64_t{0} - 1, 0) > 0)
    keys.refuse_key("expert_count", "experts", "a model without experts");
  read_extents(keys, file, shape);
  shape.epsilon
    = static_cast<float>(keys.real("attention.layer_norm_rms_epsilon", 0, 1, 1e-5));
  if (!keys.fault()) {
    shape.query_scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
    read_rope(keys, shape);
  }
  if (!keys.fault() && shape.kind == architecture::gemma3)
    read_gemma3(keys, shape);
  if (keys.fault())
    return failure(*keys.fault());
  return shape;
}

} // namespace perigee::engine::cpu
