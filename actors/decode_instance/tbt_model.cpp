#include "actors/decode_instance/tbt_model.hpp"

#include <cmath>
#include <utility>

namespace perigee::decode {
namespace {

constexpr double kept_a_step = 0.98; // some fifty steps count
constexpr double recent_share = 0.2;

using rows = std::array<std::array<double, 4>, 3>;

/// Least squares for those parts that `used` names; the others are 0.
std::array<double, 3> solve(rows sums, const std::array<bool, 3>& used) {
  for (int i = 0; i < 3; ++i) {
    // A trace of a prior, that parts which the data don't tell apart stay small.
    sums[i][i] *= 1 + 1e-6;
    if (!used[i] || sums[i][i] <= 0)
      for (int j = 0; j < 4; ++j)
        sums[i][j] = i == j;
    else
      for (int j = 0; j < 3; ++j)
        if (!used[j])
          sums[i][j] = 0;
  }
  for (int i = 0; i < 3; ++i)
    for (int k = i + 1; k < 3; ++k) {
      auto factor = sums[k][i] / sums[i][i];
      for (int j = i; j < 4; ++j)
        sums[k][j] -= factor * sums[i][j];
    }
  std::array<double, 3> parts{};
  for (int i = 2; i >= 0; --i) {
    auto right = sums[i][3];
    for (int j = i + 1; j < 3; ++j)
      right -= sums[i][j] * parts[j];
    parts[i] = right / sums[i][i];
  }
  return parts;
}

} // namespace

void tbt_model::observe(const step_load& load, std::chrono::nanoseconds duration) {
  const std::array<double, 4> row{1, static_cast<double>(load.sequences),
                                  static_cast<double>(load.kv_tokens),
                                  static_cast<double>(duration.count())};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      sums_[i][j] = sums_[i][j] * kept_a_step + row[i] * row[j];
  recent_ns_ = observed_ ? recent_ns_ + recent_share * (row[3] - recent_ns_) : row[3];
  if (!std::exchange(observed_, true))
    learn();
}

void tbt_model::learn() {
  learnt_ns_ = recent_ns_;
  if (observed_)
    fit();
}

void tbt_model::fit() {
  std::array<bool, 3> used{true, true, true};
  for (int tries = 0; tries < 3; ++tries) {
    parts_ = solve(sums_, used);
    int worst = -1;
    for (int i = 0; i < 3; ++i)
      if (used[i] && (!std::isfinite(parts_[i]) || parts_[i] < 0)
          && (worst < 0 || parts_[i] < parts_[worst]))
        worst = i;
    if (worst < 0)
      return;
    used[worst] = false;
  }
  for (auto& part : parts_)
    part = std::isfinite(part) && part > 0 ? part : 0;
}

std::chrono::nanoseconds tbt_model::predict(const step_load& load) const {
  auto ns = parts_[0] + parts_[1] * static_cast<double>(load.sequences)
            + parts_[2] * static_cast<double>(load.kv_tokens);
  return std::chrono::nanoseconds{std::llround(ns)};
}

} // namespace perigee::decode
