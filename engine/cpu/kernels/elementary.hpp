/// \file
/// Our own elementary functions: the C library's differ between processors, and a
/// rotation or a sample must not.
#pragma once

namespace perigee::engine::cpu {

/// In double, by additions, products and divisions in a fixed order alone: the same
/// bits everywhere. NaN for NaN.

/// Within 2 units in the last place. Infinity above 709.78, 0 below -708.39.
double exp_of(double x);

/// Within 2 units in the last place, and 1e-16. -infinity for 0, NaN below 0.
double log_of(double x);

/// Beyond this, sines and cosines are NaN: twice the longest prompt.
inline constexpr double angle_max = 2097152.0;

/// Within 3e-16.
double sin_of(double x);
double cos_of(double x);

/// Within |exponent * log(base)| * 5e-16 of itself. base > 0.
double pow_of(double base, double exponent);

/// In float, as the kernels have it (softmax, silu): within 2 units in the last place;
/// 0 below -87.3, infinity above 88.7.
float exp_of(float x);

} // namespace perigee::engine::cpu
