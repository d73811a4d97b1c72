/// \file
/// timings: what a request's time went into.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace perigee::gateway {

/// In the order in which they come.
enum class stage : std::uint8_t {
  parse,     ///< Reading the body.
  tokenize,  ///< Template, tokens, keys.
  admission, ///< In the rejector.
  placement, ///< In the conductor; with attempts before this one.
  queue,     ///< In the prefill group, until the first block is fetched or computed.
  fetch,     ///< What of fetching blocks was not hidden.
  prefill,
  handoff,      ///< From the last chunk's end to the first token's departure.
  flush,        ///< From the first token's arrival in the gateway to its socket.
  transfer,     ///< What of moving KV was not hidden.
  decode_queue, ///< Until the batch was joined.
  decode,
  transit, ///< Messages on their way: what the others lack to the total.
};

inline constexpr std::size_t stages_count = 13;
static_assert(stages_count == static_cast<std::size_t>(stage::transit) + 1,
              "a time for each stage");

std::string_view name_of(stage which);

/// Every nanosecond of a request is in exactly one stage.
class timings {
public:
  using span = std::chrono::nanoseconds;

  span& operator[](stage which) {
    return spans_[static_cast<std::size_t>(which)];
  }
  span operator[](stage which) const {
    return spans_[static_cast<std::size_t>(which)];
  }

  /// Until the first token: set by whoever saw it leave.
  span ttft{};

  /// The sum of all stages.
  span total() const;

  /// Sets `flush` to `time`, and takes as much from the stages after it, the earliest
  /// first: while the first token went out, the decode instance was at work already.
  void set_flush(span time);

  /// Sets `transit` such that the sum is `all`. Below 0 if clocks of several machines
  /// disagree by more than messages take.
  void close(span all);

private:
  std::array<span, stages_count> spans_{};
};

/// `{"parse_ms":0.12,...,"ttft_ms":3.4,"total_ms":5.6}`, exact to the nanosecond.
std::string to_json(const timings& times);

} // namespace perigee::gateway
