/// \file
/// tensor_type: how a tensor's numbers are written in a GGUF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace perigee::engine::gguf {

/// The types we read. The values are the file's.
enum class tensor_type : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  bf16 = 30,
};

/// Rows are whole blocks of `elements` numbers in `bytes` bytes.
struct block_shape {
  std::uint32_t elements = 1;
  std::uint32_t bytes = 0;
};

block_shape shape_of(tensor_type type);

/// As ggml writes it: "Q4_K". Never null.
const char* name_of(tensor_type type);

/// The type that a file calls `code`; none if we don't read it.
std::optional<tensor_type> known_type(std::uint32_t code);

/// ggml's name of `code`, whether we read the type or not: "IQ2_XXS". "number 77" if
/// ggml has no such type.
std::string type_text(std::uint32_t code);

/// Bytes of `elements` numbers, which must be whole blocks.
constexpr std::size_t bytes_of(block_shape shape, std::size_t elements) {
  return elements / shape.elements * shape.bytes;
}

} // namespace perigee::engine::gguf
