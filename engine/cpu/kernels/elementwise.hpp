/// \file
/// What is done to each element alone, and what is added up in eight lanes. Plain
/// loops: compiled once for each width. `V` makes each file's copy its own, see
/// product.hpp.
#pragma once

#include "engine/cpu/kernels/eight.hpp"
#include "engine/cpu/kernels/exponential.hpp"
#include "engine/cpu/kernels/views.hpp"

namespace perigee::engine::cpu {

template <class V>
void rms_norm(const float* x, const float* weight, std::size_t n, float epsilon,
              float* out) {
  eight lanes{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    eight here;
    load(x + i, here);
    lanes += here * here;
  }
  for (std::size_t lane = 0; i < n; ++i, ++lane)
    lanes[lane] += x[i] * x[i];
  auto mean = sum_eight(lanes) / static_cast<float>(n);
  auto scale = 1.0F / __builtin_sqrtf(mean + epsilon);
  for (i = 0; i < n; ++i)
    out[i] = x[i] * scale * weight[i];
}

template <class V>
void add(float* x, const float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    x[i] += y[i];
}

template <class V>
void scale(float* x, float factor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    x[i] *= factor;
}

template <class V>
void silu_product(const float* gate, const float* up, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = gate[i] / (1.0F + exponential(-gate[i])) * up[i];
}

template <class V>
void gelu_product(const float* gate, const float* up, std::size_t n, float* out) {
  constexpr float twice_root = 1.5957691216F; // 2 * sqrt(2 / pi)
  for (std::size_t i = 0; i < n; ++i) {
    auto x = gate[i];
    auto inner = twice_root * (x + 0.044715F * x * x * x);
    out[i] = x / (1.0F + exponential(-inner)) * up[i];
  }
}

template <class V>
void rope_adjacent(float* x, const float* cosine, const float* sine,
                   std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) {
    auto a = x[2 * i];
    auto b = x[2 * i + 1];
    x[2 * i] = a * cosine[i] - b * sine[i];
    x[2 * i + 1] = a * sine[i] + b * cosine[i];
  }
}

template <class V>
void rope_halves(float* x, const float* cosine, const float* sine, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) {
    auto a = x[i];
    auto b = x[i + pairs];
    x[i] = a * cosine[i] - b * sine[i];
    x[i + pairs] = a * sine[i] + b * cosine[i];
  }
}

template <class V>
void to_f16(const float* x, std::size_t n, std::uint16_t* out) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    V::narrow(x + i, out + i);
  if (i == n)
    return;
  float last[8] = {};
  std::uint16_t halves[8];
  for (std::size_t k = 0; i + k < n; ++k)
    last[k] = x[i + k];
  V::narrow(last, halves);
  for (std::size_t k = 0; i + k < n; ++k)
    out[i + k] = halves[k];
}

template <class V>
void from_f16(const std::uint16_t* x, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + V::width <= n; i += V::width)
    V::store(out + i, V::from_halves(reinterpret_cast<const std::byte*>(x + i)));
  eight wide;
  for (; i + 8 <= n; i += 8) {
    V::widen(x + i, wide);
    store(out + i, wide);
  }
  if (i == n)
    return;
  std::uint16_t last[8] = {};
  for (std::size_t k = 0; i + k < n; ++k)
    last[k] = x[i + k];
  V::widen(last, wide);
  for (std::size_t k = 0; i + k < n; ++k)
    out[i + k] = wide[k];
}

} // namespace perigee::engine::cpu
