/// \file
/// stacked_matrix: matrices that meet the same tokens.
#pragma once

#include "engine/cpu/kernels/packed_matrix.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace perigee::engine::cpu {

/// Matrices of one width, one below the other, each with its own type. Where types are
/// equal, put() them into one packed_matrix.
class stacked_matrix {
public:
  void add(packed_matrix one) {
    tiles_ += one.tiles();
    rows_ += one.rows();
    parts_.push_back(std::move(one));
  }

  const std::vector<packed_matrix>& parts() const {
    return parts_;
  }

  std::size_t rows() const {
    return rows_;
  }

  std::size_t tiles() const {
    return tiles_;
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& part : parts_)
      sum += part.bytes();
    return sum;
  }

  /// Calls `body(part, first_row, begin, end)` for the tiles [begin, end) of all parts
  /// together: for each part that has some of them, with its own numbers of tiles, and
  /// the row at which the part begins.
  template <class Body>
  void each_part(std::size_t begin, std::size_t end, Body&& body) const {
    std::size_t tile = 0;
    std::size_t row = 0;
    for (const auto& part : parts_) {
      auto from = std::max(begin, tile);
      auto to = std::min(end, tile + part.tiles());
      if (from < to)
        body(part, row, from - tile, to - tile);
      tile += part.tiles();
      row += part.rows();
    }
  }

private:
  std::vector<packed_matrix> parts_;
  std::size_t rows_ = 0;
  std::size_t tiles_ = 0;
};

} // namespace perigee::engine::cpu
