/// \file
/// modelled_disk: a disk that isn't here.
#pragma once

#include "transport/disk/disk.hpp"
#include "transport/segment_table.hpp"

#include <cstddef>
#include <map>
#include <memory>

namespace perigee::transport {

struct modelled_disk_options {
  std::uint32_t slots = 0; ///< Each as large as a block of the memory.

  /// Bandwidths, in bytes a second; 0 takes no time. Reads and writes don't hinder each
  /// other.
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;

  /// Until a command's first byte, while others go on; so many are in the device's queue.
  std::chrono::nanoseconds latency{0};
  std::uint32_t depth = 32;

  std::size_t jobs_max = 4096;
};

/// One job after the other, each way, at full bandwidth; a latency for each `depth`
/// blocks of a job is added at its end, and overlaps with the next. Keeps what is written
/// if `memory` has bytes.
std::unique_ptr<disk> make_modelled_disk(segment memory, modelled_disk_options how);

} // namespace perigee::transport
