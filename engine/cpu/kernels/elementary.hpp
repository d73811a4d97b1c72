/// \file
/// Our own elementary functions: the C library's differ between processors, and a
/// rotation or a sample must not.
#pragma once

#include <cstddef>

namespace perigee::engine::cpu {

/// In double, only by additions, products and divisions in a fixed order: the same bits
/// everywhere. Within 2 units in the last place (pow: 1e-14 relative), NaN for NaN.

/// Overflow gives infinity, underflow 0 below 2^-1022.
double exp_of(double x);

/// -infinity for 0, NaN below 0.
double log_of(double x);

/// |x| up to 2^30; beyond, NaN.
double sin_of(double x);
double cos_of(double x);

/// base > 0.
double pow_of(double base, double exponent);

/// In float, as the kernels have it (softmax, silu): within 2 units in the last place;
/// 0 below -87.3, infinity above 88.7.
float exp_of(float x);

} // namespace perigee::engine::cpu
