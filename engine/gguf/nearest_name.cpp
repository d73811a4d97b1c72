#include "engine/gguf/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace perigee::engine::gguf {
namespace {

constexpr std::size_t compared_max = 100; // the cost is its square

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      auto replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

} // namespace

nearest_name::nearest_name(std::string_view wanted)
  : wanted_(wanted.substr(0, compared_max)), distance_(wanted_.size() / 3 + 1) {}

void nearest_name::offer(std::string_view name) {
  if (name.size() > compared_max)
    return;
  if (auto far = edits(wanted_, name); far < distance_) {
    distance_ = far;
    best_ = name;
  }
}

std::string nearest_name::take() const {
  return printable(best_);
}

std::string printable(std::string_view raw) {
  std::string clean(raw.substr(0, 80));
  for (auto& c : clean)
    if (c < ' ' || c > '~')
      c = '?';
  return clean;
}

} // namespace perigee::engine::gguf
