/// \file
/// product_ref: what kernel_set::prepare and product compute, the plain way.
#pragma once

#include "engine/gguf/tensor_type.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace perigee::engine::cpu {

/// [tokens][rows] of x [tokens][columns] times the weights [rows][columns], which lie
/// as in a file. Operation by operation as the numeric profile says: must agree bit for
/// bit.
std::vector<float> product_ref(gguf::tensor_type type, std::size_t rows,
                               std::size_t columns, std::span<const std::byte> weights,
                               std::span<const float> x);

/// The same in double, without quantizing x: what it is all about.
std::vector<double> product_exact(gguf::tensor_type type, std::size_t rows,
                                  std::size_t columns,
                                  std::span<const std::byte> weights,
                                  std::span<const float> x);

} // namespace perigee::engine::cpu
