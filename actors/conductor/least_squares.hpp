/// \file
/// Fits a sum of few known terms to measurements.
#pragma once

#include <array>
#include <optional>
#include <span>

namespace perigee::conductor {

inline constexpr std::size_t terms = 3;
using coefficients = std::array<double, terms>;

/// One measurement: `value` is to be about `coefficients * term`.
struct observation {
  coefficients term{};
  double value = 0; ///< Positive.
};

/// The coefficients, none below zero, with the least sum of squared *relative* errors.
/// Nothing if there are no observations.
///
/// Errors are relative to the values first, then to what the fit says, fitted anew a few
/// times: else of values that scatter the small ones would count for more, and what is
/// predicted would lie below their mean.
///
/// A term that the data would give a negative weight to is left out, and the others are
/// fitted anew: a cost that falls as the work grows would be no cost. So is one that
/// the data do not tell from others; earlier terms are kept before later ones. Cost:
/// linear in the observations, for each of the 7 choices of terms.
std::optional<coefficients> fit_nonnegative(std::span<const observation> seen);

} // namespace perigee::conductor
