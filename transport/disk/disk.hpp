/// \file
/// disk: keeps blocks that memory has no room for. What every back end promises.
#pragma once

#include "schemas/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace perigee::transport {

/// Names a job among the outstanding ones of a disk. The submitter chooses.
enum class disk_job_id : std::uint64_t {};

/// Blocks between a memory, which the disk was made for, and its own slots.
struct disk_job {
  enum class way : std::uint8_t { read, write };
  struct pair {
    std::uint32_t block; ///< Of the memory.
    std::uint32_t slot;  ///< Of the disk.
  };

  way goes = way::read;
  std::vector<pair> pairs{}; ///< No destination twice.
};

enum class disk_fault : std::uint8_t {
  failed = 1,   ///< The device could not. What was to be written may be garbage.
  out_of_range, ///< A block or a slot that is not there.
  busy,         ///< As many jobs are outstanding as may be: come again later.
};

using on_disk_done = std::function<void(disk_job_id, const result<void, disk_fault>&)>;

/// **One outcome.** A job that submit() has refused leaves no trace. Any other is told its
/// outcome exactly once, by a call of its `then`, unless the disk's end comes first.
///
/// **Who owns the blocks.** From submit() until `then` is called the job's source must
/// not be written, and its destination neither read nor written, in memory as on the
/// disk. At the disk's end none of it is touched any more.
///
/// **Who keeps the time.** A back end with a thread of its own calls `then` there, and has
/// no next_end(). One without is told the time by its owner, who calls run_to() at
/// next_end(), or later, and within which `then` is called.
class disk {
public:
  virtual ~disk() = default;

  virtual std::uint32_t slots() const = 0;

  /// Begins `what`. Refuses with out_of_range or busy. An `id` that is outstanding is a
  /// bug.
  virtual result<void, disk_fault>
  submit(disk_job_id id, disk_job what, std::chrono::nanoseconds now, on_disk_done then)
    = 0;

  virtual std::optional<std::chrono::nanoseconds> next_end() const = 0;

  virtual void run_to(std::chrono::nanoseconds now) = 0;

  virtual std::size_t outstanding() const = 0;
};

} // namespace perigee::transport
