#include "apps/perigee/calibration_fit.hpp"

#include "actors/conductor/least_squares.hpp"
#include "schemas/assert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace perigee::app {
namespace {

using conductor::coefficients;

constexpr auto kinds
  = {measured_kind::prefill, measured_kind::decode, measured_kind::transfer};

double square(double x) {
  return x * x;
}

coefficients terms_of(const calibration_row& what) {
  switch (what.kind) {
    case measured_kind::prefill:
      return {1, double(what.tokens - what.prefix),
              square(double(what.tokens)) - square(double(what.prefix))};
    case measured_kind::decode:
      return {1, double(what.sequences), double(what.kv_tokens)};
    case measured_kind::transfer: return {1, double(what.bytes), 0};
  }
  PERIGEE_ASSERT(false, "every kind has its terms");
  return {};
}

/// In seconds.
coefficients costs_of(const cluster::cost_settings& model, measured_kind kind) {
  switch (kind) {
    case measured_kind::prefill:
      return {model.prefill_fixed_ms * 1e-3, model.prefill_token_us * 1e-6,
              model.prefill_pair_ns * 1e-9};
    case measured_kind::decode:
      return {model.decode_fixed_ms * 1e-3, model.decode_sequence_us * 1e-6,
              model.decode_kv_token_ns * 1e-9};
    case measured_kind::transfer: {
      auto rate = model.transfer_gib_per_s * double(1 << 30);
      return {model.transfer_fixed_us * 1e-6, rate > 0 ? 1 / rate : 0, 0};
    }
  }
  PERIGEE_ASSERT(false, "every kind has its costs");
  return {};
}

std::optional<coefficients> fit(std::span<const calibration_row> rows,
                                measured_kind kind) {
  std::vector<conductor::observation> seen;
  for (const auto& one : rows)
    if (one.kind == kind)
      seen.push_back({terms_of(one), one.seconds});
  return conductor::fit_nonnegative(seen);
}

std::string shape_of(const calibration_row& what) {
  switch (what.kind) {
    case measured_kind::prefill:
      return fmt::format("tokens={} prefix={}", what.tokens, what.prefix);
    case measured_kind::decode:
      return fmt::format("sequences={} kv_tokens={}", what.sequences, what.kv_tokens);
    case measured_kind::transfer: return fmt::format("bytes={}", what.bytes);
  }
  PERIGEE_ASSERT(false, "every kind has a shape");
  return {};
}

/// In per cent of what was measured.
double error_of(const cluster::cost_settings& model, const calibration_row& what) {
  return (predict(model, what) / what.seconds - 1) * 100;
}

} // namespace

double to_four_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return std::strtod(text, nullptr);
}

double predict(const cluster::cost_settings& model, const calibration_row& what) {
  auto costs = costs_of(model, what.kind);
  auto terms = terms_of(what);
  double sum = 0;
  for (std::size_t i = 0; i < conductor::terms; ++i)
    sum += costs[i] * terms[i];
  return sum;
}

result<cluster::cost_settings, std::string>
fit_costs(std::span<const calibration_row> rows) {
  auto prefill = fit(rows, measured_kind::prefill);
  auto decode = fit(rows, measured_kind::decode);
  if (!prefill || !decode)
    return failure(std::string{"there is no row of kind "}
                   + (prefill ? "decode" : "prefill")
                   + ": a cost model needs prefills and decode steps");
  auto transfer = fit(rows, measured_kind::transfer).value_or(coefficients{});
  cluster::cost_settings costs;
  costs.prefill_fixed_ms = to_four_digits((*prefill)[0] * 1e3);
  costs.prefill_token_us = to_four_digits((*prefill)[1] * 1e6);
  costs.prefill_pair_ns = to_four_digits((*prefill)[2] * 1e9);
  costs.decode_fixed_ms = to_four_digits((*decode)[0] * 1e3);
  costs.decode_sequence_us = to_four_digits((*decode)[1] * 1e6);
  costs.decode_kv_token_ns = to_four_digits((*decode)[2] * 1e9);
  costs.transfer_fixed_us = to_four_digits(transfer[0] * 1e6);
  if (transfer[1] > 0)
    costs.transfer_gib_per_s = to_four_digits(1 / transfer[1] / double(1 << 30));
  return costs;
}

namespace {

double spread_percent(const cluster::cost_settings& model,
                      std::span<const calibration_row> rows, measured_kind kind) {
  double squares = 0;
  std::size_t count = 0;
  for (const auto& one : rows)
    if (one.kind == kind) {
      squares += square(one.seconds / predict(model, one) - 1);
      ++count;
    }
  double percent = count > 0 ? 100 * std::sqrt(squares / double(count)) : 0;
  return to_four_digits(std::min(percent, 100.0));
}

} // namespace

cluster::hardware_settings with_spread(const cluster::cost_settings& model,
                                       std::span<const calibration_row> rows) {
  cluster::hardware_settings made{model};
  made.prefill_spread_percent = spread_percent(model, rows, measured_kind::prefill);
  made.decode_spread_percent = spread_percent(model, rows, measured_kind::decode);
  return made;
}

std::string residual_table(const cluster::cost_settings& model,
                           std::span<const calibration_row> rows) {
  auto text = fmt::format("{:<10}{:<36}{:>14}{:>14}{:>10}\n", "kind", "", "measured ms",
                          "predicted ms", "error %");
  std::string sums;
  for (auto kind : kinds) {
    double sum = 0;
    double most = 0;
    std::size_t count = 0;
    for (const auto& one : rows) {
      if (one.kind != kind)
        continue;
      auto error = error_of(model, one);
      text += fmt::format("{:<10}{:<36}{:>14.3f}{:>14.3f}{:>+10.1f}\n", to_string(kind),
                          shape_of(one), one.seconds * 1e3, predict(model, one) * 1e3,
                          error);
      sum += std::abs(error);
      most = std::max(most, std::abs(error));
      ++count;
    }
    if (count > 0)
      sums += fmt::format("{}: {} rows, error {:.1f} % on average, {:.1f} % at most\n",
                          to_string(kind), count, sum / double(count), most);
  }
  return text + sums;
}

} // namespace perigee::app
