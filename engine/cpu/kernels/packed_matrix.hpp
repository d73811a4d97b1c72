/// \file
/// packed_matrix: weights, as quantized as they were, in the order that products read.
#pragma once

#include "engine/cpu/kernels/aligned_bytes.hpp"
#include "engine/cpu/kernels/views.hpp"

#include <cstddef>

namespace perigee::engine::cpu {

/// The operand that a product with weights of `type` takes.
operand_form form_of(gguf::tensor_type type);

/// A matrix [rows][columns] in tiles of 16 rows, so that a vector holds the same column
/// of each. Takes the file's bytes and a few percent (K-quants, whose 6-bit scales
/// become bytes); rows are padded with zeros to whole tiles. Immutable once packed:
/// share it between engines.
class packed_matrix {
public:
  packed_matrix() = default;

  /// Packs `source`, the rows as they lie in a GGUF file; it isn't needed afterwards.
  /// `columns` must be whole blocks of the type. Runs at about 1 GB/s.
  packed_matrix(gguf::tensor_type type, std::size_t rows, std::size_t columns,
                const std::byte* source);

  /// Several matrices of one width and type, as one: rows of the first, then of the
  /// second, ... Allocates; each is then packed by put(), on any thread. All but the
  /// last must have whole tiles of rows.
  packed_matrix(gguf::tensor_type type, std::size_t rows, std::size_t columns);

  /// The same in memory of `from`, which matrices of one model share: on huge pages,
  /// where reading them goes a fifth faster.
  packed_matrix(gguf::tensor_type type, std::size_t rows, std::size_t columns,
                aligned_slabs& from);

  /// Packs rows [first, first + count), which `source` points to. `first` must be a
  /// multiple of 16, and `count` too unless these are the last rows. Calls for
  /// different rows may run at once.
  void put(std::size_t first, std::size_t count, const std::byte* source);

  matrix_view view() const;

  std::size_t rows() const {
    return rows_;
  }

  std::size_t columns() const {
    return columns_;
  }

  gguf::tensor_type type() const {
    return type_;
  }

  /// How many tiles there are to share out among threads.
  std::size_t tiles() const {
    return (rows_ + tile_rows - 1) / tile_rows;
  }

  std::size_t bytes() const {
    return memory_.size();
  }

private:
  gguf::tensor_type type_ = gguf::tensor_type::f32;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t tile_bytes_ = 0;
  aligned_bytes memory_;
};

} // namespace perigee::engine::cpu
