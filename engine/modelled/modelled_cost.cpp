#include "engine/modelled/modelled_cost.hpp"

#include "engine/sampling/chance.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::engine {
namespace {

/// Far beyond any batch, and inside what nanoseconds can say.
constexpr double seconds_max = 1e9;

bool is_decode(const slice& one) {
  return one.tokens.size() == 1 && one.pick != nullptr;
}

} // namespace

double spread_factor(double spread, std::uint64_t which) {
  if (spread <= 0)
    return 1;
  constexpr int numbers = 12;
  double z = -numbers / 2.0;
  for (int i = 0; i < numbers; ++i)
    z += chance(which, static_cast<std::uint64_t>(i));
  // Of (1 + bz)^2: mean 1 + b^2, variance 4 b^2 + 2 b^4; so b^2 is what follows.
  double square = std::sqrt(2 / (2 - spread * spread)) - 1;
  double root = 1 + std::sqrt(square) * z;
  return root * root / (1 + square);
}

std::chrono::nanoseconds modelled_cost::of(std::span<const slice> batch) const {
  double fixed = 0;
  double rest = 0;
  double spread = decode.spread;
  std::uint64_t which = 0;
  std::size_t decodes = 0;
  for (const auto& one : batch) {
    auto n = static_cast<double>(one.tokens.size());
    auto p = static_cast<double>(one.first_position);
    which = mixed(mixed(which, one.first_position), one.tokens.front());
    if (is_decode(one)) {
      fixed = std::max(fixed, decode.fixed_s);
      rest += decode.kv_token_s * (p + 1) + (decodes > 0 ? decode.sequence_s : 0.0);
      ++decodes;
    } else {
      spread = prefill.spread;
      fixed = std::max(fixed, prefill.fixed_s);
      rest += prefill.token_s * n + prefill.square_s * ((p + n) * (p + n) - p * p);
    }
  }
  double seconds = (fixed + rest) * spread_factor(spread, which);
  seconds = std::clamp(seconds, 0.0, seconds_max);
  return std::chrono::nanoseconds{std::llround(seconds * 1e9)};
}

} // namespace perigee::engine
