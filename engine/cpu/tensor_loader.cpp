#include "engine/cpu/tensor_loader.hpp"

#include "engine/cpu/kernels/dequantize.hpp"

#include <algorithm>

namespace perigee::engine::cpu {

tensor_loader::tensor_loader(const gguf::file& file, const load_progress& progress)
  : file_{file}, progress_{progress} {
  for (const auto& one : file.tensors())
    total_ += one.data.size();
}

bool tensor_loader::has(const std::string& name) const {
  return file_.find(name) != nullptr;
}

const gguf::tensor* tensor_loader::tensor(const std::string& name, std::size_t columns,
                                          std::size_t rows) {
  if (fault_)
    return nullptr;
  auto got = file_.get(name, columns, rows);
  if (!got) {
    fault_ = got.error();
    return nullptr;
  }
  if (taken_.insert((*got)->name).second)
    report((*got)->data.size());
  return *got;
}

void tensor_loader::report(std::size_t bytes) {
  done_ += bytes;
  if (progress_)
    progress_(done_, total_);
}

std::vector<float> tensor_loader::vector(const std::string& name, std::size_t size) {
  const auto* it = tensor(name, size, 1);
  return it ? dequantized(it->type, it->data.data(), size) : std::vector<float>{};
}

stacked_matrix tensor_loader::matrix(std::size_t columns,
                                     const std::vector<part>& parts) {
  std::vector<const gguf::tensor*> tensors;
  for (const auto& one : parts)
    tensors.push_back(tensor(one.name, columns, one.rows));
  stacked_matrix stack;
  if (fault_)
    return stack;
  for (std::size_t i = 0; i < parts.size();) {
    // Those that follow join it as long as each one before them fills its tiles.
    auto end = i + 1;
    auto rows = parts[i].rows;
    while (end < parts.size() && tensors[end]->type == tensors[i]->type
           && rows % tile_rows == 0)
      rows += parts[end++].rows;
    packed_matrix one(tensors[i]->type, rows, columns, slabs_);
    for (std::size_t row = 0; i < end; row += parts[i++].rows) {
      one.put(row, parts[i].rows, tensors[i]->data.data());
      file_.release(tensors[i]->data);
    }
    stack.add(std::move(one));
  }
  return stack;
}

std::optional<gguf::bad_input> tensor_loader::fault() const {
  if (fault_)
    return fault_;
  for (const auto& one : file_.tensors())
    if (!taken_.contains(one.name))
      return gguf::bad_input{gguf::file_fault::unsupported,
                             file_.name() + ": tensor '" + std::string{one.name} + "'",
                             "only tensors that the architecture has", ""};
  return {};
}

} // namespace perigee::engine::cpu
