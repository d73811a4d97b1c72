#include "engine/gguf/tensor_type.hpp"

#include <array>

namespace perigee::engine::gguf {
namespace {

struct known {
  const char* name = nullptr; // null: ggml has no such type, or no longer
  block_shape shape{};        // bytes 0: we don't read it
};

// By ggml's numbers.
constexpr std::array<known, 41> types{{
  {"F32", {1, 4}},
  {"F16", {1, 2}},
  {"Q4_0", {32, 18}},
  {"Q4_1", {32, 20}},
  {"Q4_2"},
  {"Q4_3"},
  {"Q5_0", {32, 22}},
  {"Q5_1", {32, 24}},
  {"Q8_0", {32, 34}},
  {"Q8_1"},
  {"Q2_K"},
  {"Q3_K"},
  {"Q4_K", {256, 144}},
  {"Q5_K", {256, 176}},
  {"Q6_K", {256, 210}},
  {"Q8_K"},
  {"IQ2_XXS"},
  {"IQ2_XS"},
  {"IQ3_XXS"},
  {"IQ1_S"},
  {"IQ4_NL"},
  {"IQ3_S"},
  {"IQ2_S"},
  {"IQ4_XS"},
  {"I8"},
  {"I16"},
  {"I32"},
  {"I64"},
  {"F64"},
  {"IQ1_M"},
  {"BF16", {1, 2}},
  {"Q4_0_4_4"},
  {"Q4_0_4_8"},
  {"Q4_0_8_8"},
  {"TQ1_0"},
  {"TQ2_0"},
  {"IQ4_NL_4_4"},
  {"IQ4_NL_4_8"},
  {"IQ4_NL_8_8"},
  {"MXFP4"},
  {"NVFP4"},
}};

} // namespace

block_shape shape_of(tensor_type type) {
  return types[static_cast<std::uint32_t>(type)].shape;
}

const char* name_of(tensor_type type) {
  return types[static_cast<std::uint32_t>(type)].name;
}

std::optional<tensor_type> known_type(std::uint32_t code) {
  if (code >= types.size() || types[code].shape.bytes == 0)
    return std::nullopt;
  return static_cast<tensor_type>(code);
}

std::string type_text(std::uint32_t code) {
  if (code >= types.size())
    return "number " + std::to_string(code);
  return types[code].name;
}

} // namespace perigee::engine::gguf
