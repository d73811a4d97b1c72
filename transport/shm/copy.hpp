/// \file
/// How bytes are copied within a machine.
#pragma once

#include <cstddef>

namespace perigee::transport::shm {

/// Copies past the caches from some size on.
struct copying {
  std::size_t streaming_bytes_min = static_cast<std::size_t>(-1);

  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const;
};

/// As memcpy(), with stores that leave the caches alone where the processor has them,
/// and visible to all when it returns.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes);

/// Measures from which size on copy_streaming() is faster than memcpy() here; if at
/// none, it is not used. Takes some milliseconds the first time in a process.
copying find_copying();

} // namespace perigee::transport::shm
