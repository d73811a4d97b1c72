/// \file
/// What the machine can do at best, to set transports beside.
#pragma once

#include "apps/perigee/transfer_bench/pair.hpp"

#include <chrono>
#include <optional>

namespace perigee::app::transfer_bench {

/// Bytes a second that so many threads copy with memcpy(), block after block of `bytes`,
/// as moves do.
class copy_limit {
public:
  copy_limit();
  copy_limit(const copy_limit&) = delete;
  copy_limit& operator=(const copy_limit&) = delete;
  ~copy_limit();

  double run(std::size_t bytes, std::size_t threads, std::chrono::nanoseconds time);

private:
  std::byte* from_;
  std::byte* to_;
};

/// Bytes a second that iperf3 sends over the loopback, in so many streams, for a second.
/// Nothing where it is not installed, or does not come to an end.
std::optional<double> iperf3_limit(std::size_t threads);

/// Bytes a second that ib_write_bw or ib_read_bw moves for about `time` from the first
/// device to the second, if that is as fast as `expected`: over as many queue pairs as
/// `how` has threads, each with `how.depth` messages under way, of at most 8 MiB (some
/// devices take no more). Nothing where it is not installed, or does not come to an end.
std::optional<double> perftest_limit(const load& how, const device_names& devices,
                                     double expected, std::chrono::nanoseconds time);

} // namespace perigee::app::transfer_bench
