/// \file
/// contention: how many moves want the wire, by how urgent they are.
#pragma once

#include "transport/move.hpp"

#include <array>
#include <utility>

namespace perigee::transport {

/// Of all peers of a transport together, or of one. One owner, one thread.
class contention {
public:
  void begin(priority urgency) {
    ++moves_[static_cast<std::size_t>(urgency)];
  }

  void end(priority urgency) {
    if (--moves_[static_cast<std::size_t>(urgency)] == 0)
      eased_ = true;
  }

  /// Of those that are more urgent than `mine`.
  std::size_t ahead_of(priority mine) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(mine); ++i)
      count += moves_[i];
    return count;
  }

  /// Whether somebody may go on who had to wait. True once each time.
  bool take_eased() {
    return std::exchange(eased_, false);
  }

private:
  std::array<std::size_t, priorities> moves_{};
  bool eased_ = false;
};

} // namespace perigee::transport
