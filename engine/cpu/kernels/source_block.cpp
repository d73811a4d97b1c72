#include "engine/cpu/kernels/source_block.hpp"

#include "engine/cpu/kernels/layout.hpp"
#include "schemas/assert.hpp"

#include <cstring>

namespace perigee::engine::cpu {
namespace {

using quants = std::array<std::uint8_t, block_columns>;

constexpr std::size_t half_block = block_columns / 2;

std::uint8_t at(const std::byte* from, std::size_t index) {
  return static_cast<std::uint8_t>(from[index]);
}

std::uint16_t half_at(const std::byte* from) {
  std::uint16_t it;
  std::memcpy(&it, from, sizeof(it));
  return it;
}

// Q4_0 to Q5_1: a byte holds the columns i and i + 16; fifth bits are in a 32-bit word.
void read_nibbles(const std::byte* from, quants& into) {
  for (std::size_t i = 0; i < half_block; ++i) {
    into[i] = at(from, i) & 15;
    into[i + half_block] = at(from, i) >> 4;
  }
}

void read_fifth_bits(const std::byte* from, quants& into) {
  std::uint32_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  for (std::size_t i = 0; i < block_columns; ++i)
    into[i] |= static_cast<std::uint8_t>((bits >> i & 1) << 4);
}

source_block read_legacy(gguf::tensor_type type, const std::byte* from) {
  using enum gguf::tensor_type;
  source_block it;
  it.scale = half_at(from);
  from += 2;
  if (type == q8_0) {
    for (std::size_t i = 0; i < block_columns; ++i)
      it.quants[i] = at(from, i) ^ 0x80;
    return it;
  }
  if (type == q4_1 || type == q5_1) {
    it.minimum = half_at(from);
    from += 2;
  }
  bool five = type == q5_0 || type == q5_1;
  read_nibbles(from + (five ? 4 : 0), it.quants);
  if (five)
    read_fifth_bits(from, it.quants);
  return it;
}

// Eight scales and eight minima of 6 bits in 12 bytes.
std::array<std::uint8_t, 2> six_bits(const std::byte* from, std::size_t index) {
  auto byte = [&](std::size_t i) { return at(from, i); };
  if (index < 4)
    return {static_cast<std::uint8_t>(byte(index) & 63),
            static_cast<std::uint8_t>(byte(index + 4) & 63)};
  return {
    static_cast<std::uint8_t>((byte(index + 4) & 15) | (byte(index - 4) >> 6) << 4),
    static_cast<std::uint8_t>(byte(index + 4) >> 4 | (byte(index) >> 6) << 4)};
}

// 64 columns share 32 bytes: the first 32 columns are the low nibbles.
source_block read_q45_k(const std::byte* from, std::size_t index, bool five) {
  constexpr std::size_t scales_at = 4, high_at = 16, high_bytes = 32;
  source_block it;
  it.scale = half_at(from);
  it.minimum = half_at(from + 2);
  it.sub = six_bits(from + scales_at, index);
  const auto* nibbles
    = from + high_at + (five ? high_bytes : 0) + index / 2 * block_columns;
  for (std::size_t i = 0; i < block_columns; ++i) {
    it.quants[i] = at(nibbles, i) >> index % 2 * 4 & 15;
    if (five)
      it.quants[i] |= (at(from + high_at, i) >> index & 1) << 4;
  }
  return it;
}

// 128 columns share 64 bytes of nibbles and 32 bytes of upper bits.
source_block read_q6_k(const std::byte* from, std::size_t index) {
  constexpr std::size_t high_at = 128, scales_at = 192, scale_at = 208;
  source_block it;
  it.scale = half_at(from + scale_at);
  it.sub = {at(from + scales_at, 2 * index), at(from + scales_at, 2 * index + 1)};
  auto part = index % 4;
  const auto* nibbles = from + index / 4 * 64 + part % 2 * block_columns;
  const auto* high = from + high_at + index / 4 * 32;
  for (std::size_t i = 0; i < block_columns; ++i)
    it.quants[i] = static_cast<std::uint8_t>((at(nibbles, i) >> part / 2 * 4 & 15)
                                             | (at(high, i) >> 2 * part & 3) << 4);
  return it;
}

} // namespace

source_block read_block(gguf::tensor_type type, const std::byte* row,
                        std::size_t index) {
  using enum gguf::tensor_type;
  auto bytes = gguf::shape_of(type).bytes;
  switch (type) {
    case q4_0:
    case q4_1:
    case q5_0:
    case q5_1:
    case q8_0: return read_legacy(type, row + index * bytes);
    case q4_k:
    case q5_k:
      return read_q45_k(row + index / super_blocks * bytes, index % super_blocks,
                        type == q5_k);
    case q6_k:
      return read_q6_k(row + index / super_blocks * bytes, index % super_blocks);
    case f32:
    case f16:
    case bf16: break;
  }
  PERIGEE_ASSERT(false, "not a quantized type");
  return {};
}

} // namespace perigee::engine::cpu
