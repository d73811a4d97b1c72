/// \file
/// delivery: how far a prompt's blocks have been sent to where they are wanted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace perigee::prefill {

/// Blocks [first, end) of a prompt.
struct block_range {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  bool empty() const {
    return first >= end;
  }
};

/// One destination of a prompt's blocks. Pure.
struct delivery {
  std::uint64_t segment = 0;
  std::vector<std::uint32_t>
    targets;                     ///< One for each of the prompt's blocks, once known.
  std::uint32_t sent = 0;        ///< Blocks [0, sent) are there, or on their way.
  std::set<std::uint64_t> moves; ///< Tickets that are not answered.
  bool failed = false;

  bool is_open() const {
    return !targets.empty();
  }

  /// The blocks that may be sent, of which [0, ready) are complete. They count as sent.
  block_range take(std::uint32_t ready) {
    block_range some{sent, is_open() ? std::max(ready, sent) : sent};
    sent = some.end;
    return some;
  }

  bool is_done() const {
    return is_open() && moves.empty() && !failed && sent == targets.size();
  }
};

} // namespace perigee::prefill
