/// \file
/// calibration_fit: a cost model from somebody's own measurements.
#pragma once

#include "actors/cluster/topology.hpp"
#include "apps/perigee/calibration_rows.hpp"

#include <span>

namespace perigee::app {

/// The cost model that predicts `rows` with the least squared relative errors, to four
/// digits. Pure. Fails with a sentence if there is no prefill or no decode step among
/// them; without a transfer, moving KV costs nothing.
result<cluster::cost_settings, std::string>
fit_costs(std::span<const calibration_row> rows);

/// How long `model` says that it takes, in seconds.
double predict(const cluster::cost_settings& model, const calibration_row& what);

/// `model`, which was fitted to `rows`, with the spread that they have beside it: the root
/// of the mean squared error, relative to what is predicted.
cluster::hardware_settings with_spread(const cluster::cost_settings& model,
                                       std::span<const calibration_row> rows);

/// A line for each row: what was measured, what `model` predicts, and how far off that
/// is; then, for each kind, the mean and the largest of these errors.
std::string residual_table(const cluster::cost_settings& model,
                           std::span<const calibration_row> rows);

/// To the four digits that are worth writing down.
double to_four_digits(double x);

} // namespace perigee::app
