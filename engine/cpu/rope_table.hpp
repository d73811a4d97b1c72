/// \file
/// rope_table: the angles by which positions turn queries and keys.
#pragma once

#include "engine/cpu/model_shape.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace perigee::engine::cpu {

class rope_table {
public:
  /// `factors` divide the frequencies, one a pair; empty: all by 1.
  rope_table(const rope_shape& how, std::size_t dimensions,
             std::span<const float> factors);

  std::size_t pairs() const {
    return frequencies_.size();
  }

  /// Writes [pairs] cosines and sines. A function of the position alone; takes some 50
  /// ns a pair.
  void fill(std::uint32_t position, float* cosine, float* sine) const;

private:
  std::vector<double> frequencies_;
};

} // namespace perigee::engine::cpu
