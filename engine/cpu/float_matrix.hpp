/// \file
/// float_matrix: rows of floats for intermediate results.
#pragma once

#include "engine/cpu/kernels/aligned_bytes.hpp"
#include "engine/cpu/kernels/views.hpp"

#include <cstddef>

namespace perigee::engine::cpu {

class float_matrix {
public:
  float_matrix() = default;

  float_matrix(std::size_t rows_max, std::size_t width)
    : width_{width}, memory_{rows_max * width * sizeof(float)} {}

  std::size_t width() const {
    return width_;
  }

  float* row(std::size_t index) const {
    return reinterpret_cast<float*>(memory_.data()) + index * width_;
  }

  /// The first `columns` of the first `count` rows.
  rows first(std::size_t count, std::size_t columns) const {
    return {row(0), count, columns, width_};
  }

private:
  std::size_t width_ = 0;
  aligned_bytes memory_;
};

} // namespace perigee::engine::cpu
