#include "actors/conductor/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace perigee::conductor {
namespace {

/// An observation, over what its error is relative to.
struct relative {
  coefficients term{};
  double value = 0;
};

/// Normal equations of the terms that `chosen` has, each term scaled to 1 at most.
struct equations {
  std::array<coefficients, terms> left{};
  coefficients right{};
};

equations normal_equations(std::span<const relative> seen, unsigned chosen,
                           const coefficients& scale) {
  equations sums;
  for (const auto& one : seen)
    for (std::size_t i = 0; i < terms; ++i) {
      auto at
        = [&](std::size_t t) { return chosen >> t & 1 ? one.term[t] / scale[t] : 0; };
      for (std::size_t j = 0; j < terms; ++j)
        sums.left[i][j] += at(i) * at(j);
      sums.right[i] += at(i) * one.value;
    }
  for (std::size_t i = 0; i < terms; ++i)
    if (!(chosen >> i & 1))
      sums.left[i][i] = 1; // its coefficient is 0
  return sums;
}

/// Gauss-Jordan with the largest pivot. Nothing if the equations depend on each other.
std::optional<coefficients> solve(equations sums) {
  constexpr double least_pivot = 1e-12;
  double largest = 0;
  for (std::size_t i = 0; i < terms; ++i)
    largest = std::max(largest, sums.left[i][i]);
  for (std::size_t step = 0; step < terms; ++step) {
    auto pivot = step;
    for (auto row = step + 1; row < terms; ++row)
      if (std::abs(sums.left[row][step]) > std::abs(sums.left[pivot][step]))
        pivot = row;
    std::swap(sums.left[step], sums.left[pivot]);
    std::swap(sums.right[step], sums.right[pivot]);
    if (std::abs(sums.left[step][step]) < least_pivot * largest)
      return std::nullopt;
    for (std::size_t row = 0; row < terms; ++row) {
      if (row == step)
        continue;
      auto factor = sums.left[row][step] / sums.left[step][step];
      for (auto column = step; column < terms; ++column)
        sums.left[row][column] -= factor * sums.left[step][column];
      sums.right[row] -= factor * sums.right[step];
    }
  }
  coefficients found;
  for (std::size_t i = 0; i < terms; ++i)
    found[i] = sums.right[i] / sums.left[i][i];
  return found;
}

double fitted(const coefficients& found, const coefficients& term) {
  double sum = 0;
  for (std::size_t t = 0; t < terms; ++t)
    sum += found[t] * term[t];
  return sum;
}

double squared_error(std::span<const relative> seen, const coefficients& found) {
  double sum = 0;
  for (const auto& one : seen) {
    auto error = fitted(found, one.term) - one.value;
    sum += error * error;
  }
  return sum;
}

coefficients largest_terms(std::span<const relative> seen) {
  coefficients scale{};
  for (const auto& one : seen)
    for (std::size_t t = 0; t < terms; ++t)
      scale[t] = std::max(scale[t], std::abs(one.term[t]));
  for (auto& one : scale)
    one = one > 0 ? one : 1;
  return scale;
}

/// `to`: what the values are about, or null for the values themselves.
std::vector<relative> relative_to(const coefficients* to,
                                  std::span<const observation> seen) {
  std::vector<relative> all;
  all.reserve(seen.size());
  for (const auto& one : seen) {
    // A fit may be next to nothing where a value is not: then that would be all that counts.
    auto about = to ? std::max(fitted(*to, one.term), one.value / 10) : one.value;
    relative made{one.term, one.value / about};
    for (auto& term : made.term)
      term /= about;
    all.push_back(made);
  }
  return all;
}

std::optional<coefficients> fit_relative(std::span<const relative> seen) {
  // More terms first, then earlier ones: what comes later must be better to count.
  constexpr unsigned choices[]{0b111, 0b011, 0b101, 0b110, 0b001, 0b010, 0b100};
  constexpr double better_by = 1e-12; // rounding alone is no merit
  auto scale = largest_terms(seen);
  std::optional<coefficients> best;
  double best_error = std::numeric_limits<double>::infinity();
  for (auto chosen : choices) {
    auto found = solve(normal_equations(seen, chosen, scale));
    if (!found || !std::all_of(found->begin(), found->end(), [](double c) {
          return c >= 0; // false for what is no number
        }))
      continue;
    for (std::size_t t = 0; t < terms; ++t)
      (*found)[t] /= scale[t];
    if (auto error = squared_error(seen, *found); error < best_error - better_by) {
      best_error = error;
      best = found;
    }
  }
  return best;
}

} // namespace

std::optional<coefficients> fit_nonnegative(std::span<const observation> seen) {
  constexpr int rounds = 4;
  if (seen.empty())
    return std::nullopt;
  auto found = fit_relative(relative_to(nullptr, seen));
  for (int round = 0; found && round < rounds; ++round)
    found = fit_relative(relative_to(&*found, seen));
  return found;
}

} // namespace perigee::conductor
