#include "tests/engine/cpu/kernels/product_ref.hpp"

#include "engine/cpu/kernels/dequantize.hpp"
#include "engine/cpu/kernels/source_block.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace perigee::engine::cpu {
namespace {

using gguf::tensor_type;

struct int8_ref {
  float scale = 0;
  std::array<int, block_columns> quants{};
};

int8_ref quantized(std::span<const float> x) {
  int8_ref it;
  float most = 0;
  for (auto one : x) {
    if (!std::isfinite(one))
      return {std::nanf(""), {}};
    most = std::max(most, std::fabs(one));
  }
  if (most < 1e-30F)
    return it;
  it.scale = most / 127.0F;
  auto factor = 127.0F / most;
  for (std::size_t i = 0; i < x.size(); ++i)
    it.quants[i] = static_cast<int>(std::nearbyint(x[i] * factor)); // to even
  return it;
}

int offset_of(tensor_type type) {
  switch (type) {
    case tensor_type::q4_0: return 8;
    case tensor_type::q5_0: return 16;
    case tensor_type::q6_k: return 32;
    case tensor_type::q8_0: return 128;
    default: return 0;
  }
}

int dot(const source_block& w, const int8_ref& x, int offset, std::size_t begin,
        std::size_t end) {
  int sum = 0;
  for (auto i = begin; i < end; ++i)
    sum += (w.quants[i] - offset) * x.quants[i];
  return sum;
}

float real(int whole) {
  return static_cast<float>(whole);
}

float add_block(tensor_type type, const source_block& w, const int8_ref& x,
                float total) {
  auto scale = half_to_float(w.scale);
  auto minimum = half_to_float(w.minimum);
  auto offset = offset_of(type);
  if (type == tensor_type::q6_k) {
    auto first = scale * static_cast<float>(static_cast<std::int8_t>(w.sub[0]));
    auto second = scale * static_cast<float>(static_cast<std::int8_t>(w.sub[1]));
    return total
           + (real(dot(w, x, offset, 0, 16)) * first
              + real(dot(w, x, offset, 16, 32)) * second)
               * x.scale;
  }
  bool is_k = type == tensor_type::q4_k || type == tensor_type::q5_k;
  if (is_k) {
    scale *= real(w.sub[0]);
    minimum *= real(w.sub[1]);
  }
  total += real(dot(w, x, offset, 0, 32)) * scale * x.scale;
  int sum = 0;
  for (auto quant : x.quants)
    sum += quant;
  auto shift = minimum * (x.scale * real(sum));
  if (is_k)
    return total - shift;
  return type == tensor_type::q4_1 || type == tensor_type::q5_1 ? total + shift : total;
}

float row_of_blocks(tensor_type type, const std::byte* row, std::span<const float> x) {
  float total = 0;
  for (std::size_t block = 0; block < x.size() / block_columns; ++block)
    total
      = add_block(type, read_block(type, row, block),
                  quantized(x.subspan(block * block_columns, block_columns)), total);
  return total;
}

float row_of_floats(std::span<const float> row, std::span<const float> x) {
  float total = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += block_columns) {
    float sum = 0;
    for (auto i = begin; i < std::min(begin + block_columns, x.size()); ++i)
      sum += row[i] * x[i];
    total += sum;
  }
  return total;
}

} // namespace

std::vector<float> product_ref(tensor_type type, std::size_t rows, std::size_t columns,
                               std::span<const std::byte> weights,
                               std::span<const float> x) {
  auto shape = gguf::shape_of(type);
  auto row_bytes = gguf::bytes_of(shape, columns);
  std::vector<float> out;
  for (std::size_t t = 0; t < x.size() / columns; ++t)
    for (std::size_t row = 0; row < rows; ++row) {
      const auto* from = weights.data() + row * row_bytes;
      auto token = x.subspan(t * columns, columns);
      out.push_back(shape.elements == 1
                      ? row_of_floats(dequantized(type, from, columns), token)
                      : row_of_blocks(type, from, token));
    }
  return out;
}

std::vector<double> product_exact(tensor_type type, std::size_t rows,
                                  std::size_t columns,
                                  std::span<const std::byte> weights,
                                  std::span<const float> x) {
  auto plain = dequantized(type, weights.data(), rows * columns);
  std::vector<double> out;
  for (std::size_t t = 0; t < x.size() / columns; ++t)
    for (std::size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < columns; ++i)
        sum += double{plain[row * columns + i]} * double{x[t * columns + i]};
      out.push_back(sum);
    }
  return out;
}

} // namespace perigee::engine::cpu
