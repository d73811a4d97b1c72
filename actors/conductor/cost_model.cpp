#include "actors/conductor/cost_model.hpp"

#include <cmath>
#include <cstdio>
#include <initializer_list>

namespace perigee::conductor {
namespace {

/// Longer than anything takes, and short enough to add up a thousand of.
constexpr double predicted_ns_max = 1e15;

/// The one place where a prediction is rounded.
nanoseconds rounded(double ns) {
  return nanoseconds{std::llround(ns < predicted_ns_max ? ns : predicted_ns_max)};
}

struct named {
  const char* name;
  double value;
};

std::string text(const char* key, double value) {
  char digits[32]; // to_string(double) keeps six decimals of any number
  std::snprintf(digits, sizeof digits, "%.17g", value);
  return std::string{key} + '=' + digits + ' ';
}

} // namespace

nanoseconds prefill_cost::time(std::uint64_t tokens, std::uint64_t cached) const {
  if (cached >= tokens)
    return {};
  auto n = static_cast<double>(tokens), p = static_cast<double>(cached);
  return rounded(fixed_ns + token_ns * (n - p) + pair_ns * (n - p) * (n + p));
}

nanoseconds decode_cost::step_time(std::uint64_t sequences,
                                   std::uint64_t kv_tokens) const {
  if (sequences == 0)
    return {};
  return rounded(fixed_ns + sequence_ns * static_cast<double>(sequences)
                 + kv_token_ns * static_cast<double>(kv_tokens));
}

nanoseconds transfer_cost::time(std::uint64_t bytes) const {
  if (bytes == 0)
    return {};
  return rounded(
    latency_ns
    + (bytes_per_s > 0 ? static_cast<double>(bytes) / bytes_per_s * 1e9 : 0));
}

std::optional<std::string> find_fault(const cost_model& model) {
  for (const auto& one : std::initializer_list<named>{
         {"prefill.fixed_ns", model.prefill.fixed_ns},
         {"prefill.token_ns", model.prefill.token_ns},
         {"prefill.pair_ns", model.prefill.pair_ns},
         {"decode.fixed_ns", model.decode.fixed_ns},
         {"decode.sequence_ns", model.decode.sequence_ns},
         {"decode.kv_token_ns", model.decode.kv_token_ns},
         {"link.latency_ns", model.link.latency_ns},
         {"link.bytes_per_s", model.link.bytes_per_s},
         {"disk.latency_ns", model.disk.latency_ns},
         {"disk.bytes_per_s", model.disk.bytes_per_s},
       })
    if (!std::isfinite(one.value) || one.value < 0)
      return std::string{one.name} + " = " + std::to_string(one.value)
             + ": expected a finite number of at least 0";
  return std::nullopt;
}

std::string to_string(const cost_model& cost) {
  return text("prefill_fixed_ns", cost.prefill.fixed_ns)
         + text("prefill_token_ns", cost.prefill.token_ns)
         + text("prefill_pair_ns", cost.prefill.pair_ns)
         + text("decode_fixed_ns", cost.decode.fixed_ns)
         + text("decode_sequence_ns", cost.decode.sequence_ns)
         + text("decode_kv_token_ns", cost.decode.kv_token_ns)
         + text("link_latency_ns", cost.link.latency_ns)
         + text("link_bytes_per_s", cost.link.bytes_per_s)
         + text("disk_latency_ns", cost.disk.latency_ns)
         + text("disk_bytes_per_s", cost.disk.bytes_per_s)
         + "kv_token_bytes=" + std::to_string(cost.kv_token_bytes);
}

} // namespace perigee::conductor
