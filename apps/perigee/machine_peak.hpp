/// \file
/// machine_peak: what this machine could do at best, measured.
#pragma once

#include <cstddef>

namespace perigee::app {

/// Bytes a second that `threads` threads read from memory, in order. Takes a second.
double peak_bytes(std::size_t threads);

/// Products of int8 a second that `threads` threads add up in registers, with the best
/// instructions of the processor that are for that: AVX-512 VNNI or AVX2; 0 if it has
/// neither. Takes half a second.
double peak_multiply_adds(std::size_t threads);

/// The instructions that peak_multiply_adds() uses here: "AVX-512 VNNI".
const char* peak_instructions();

} // namespace perigee::app
