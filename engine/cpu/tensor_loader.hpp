/// \file
/// tensor_loader: takes tensors out of a file, and notices what goes wrong.
#pragma once

#include "engine/cpu/stacked_matrix.hpp"
#include "engine/cpu/weights.hpp"
#include "engine/gguf/gguf.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace perigee::engine::cpu {

/// After the first fault everything it gives is empty, and that fault stays.
class tensor_loader {
public:
  struct part {
    std::string name;
    std::size_t rows = 0;
  };

  tensor_loader(const gguf::file& file, const load_progress& progress);

  std::vector<float> vector(const std::string& name, std::size_t size);

  /// The parts, one below the other; as one matrix where their type is the same.
  stacked_matrix matrix(std::size_t columns, const std::vector<part>& parts);

  const gguf::tensor* tensor(const std::string& name, std::size_t columns,
                             std::size_t rows);

  bool has(const std::string& name) const;

  bool has_failed() const {
    return fault_.has_value();
  }

  /// To be asked last: the first fault, or that a tensor was never taken.
  std::optional<gguf::bad_input> fault() const;

private:
  void report(std::size_t bytes);

  const gguf::file& file_;
  const load_progress& progress_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  aligned_slabs slabs_;
  std::set<std::string_view> taken_;
  std::optional<gguf::bad_input> fault_;
};

} // namespace perigee::engine::cpu
