#include "engine/modelled/modelled_cost.hpp"

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

std::chrono::nanoseconds modelled_cost::of(std::span<const slice> batch) const {
  double fixed = 0;
  double rest = 0;
  std::size_t decodes = 0;
  for (const auto& one : batch) {
    auto n = static_cast<double>(one.tokens.size());
    auto p = static_cast<double>(one.first_position);
    if (is_decode(one)) {
      fixed = std::max(fixed, decode.fixed_s);
      rest += decode.kv_token_s * (p + 1) + (decodes > 0 ? decode.sequence_s : 0.0);
      ++decodes;
    } else {
      fixed = std::max(fixed, prefill.fixed_s);
      rest += prefill.token_s * n + prefill.square_s * ((p + n) * (p + n) - p * p);
    }
  }
  double seconds = std::clamp(fixed + rest, 0.0, seconds_max);
  return std::chrono::nanoseconds{std::llround(seconds * 1e9)};
}

} // namespace perigee::engine
