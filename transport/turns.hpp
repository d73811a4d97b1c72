/// \file
/// turns: which moves to and from a peer may go now, beside those of other peers.
#pragma once

#include "transport/contention.hpp"
#include "transport/pace.hpp"

#include <optional>

namespace perigee::transport {

/// A move, as far as it matters whose turn it is.
struct contender {
  const priority urgency;
  const bool is_write;
  bool is_counted = false; ///< Among those that want the wire: see turns.
};

/// Of one peer. Pure: it is told the time, and what goes. Of one owner, one thread.
///
/// A piece must wait while it would be faster than the peer's rate; and while moves of
/// other peers are more urgent, if a piece of its urgency is under way.
class turns {
public:
  using moment = pace::moment;

  /// `all` counts the moves of all peers, and outlives this.
  explicit turns(contention& all) : all_(all) {}

  void set_rates(const rates& most);

  /// `one` wants the wire, or does so no longer. To say it twice is to say it once.
  void count(contender& one, bool wants);

  /// Whether its next piece may go. If not for its rate, wakes_at() says when.
  bool may_go(const contender& one, moment now);

  /// Of at most `most`, how many bytes its next piece should have.
  std::uint64_t piece_bytes(const contender& one, std::uint64_t most) const {
    return pace_of(one).piece_bytes(most);
  }

  /// A piece of so many bytes goes, and is under way until it came_back().
  void went(const contender& one, std::uint64_t bytes, moment now);

  /// A piece of that urgency has arrived, or will not.
  void came_back(priority urgency);

  /// The first moment at which one may go that was too fast.
  std::optional<moment> wakes_at() const {
    return wakes_at_;
  }

  /// Whether that has come. True once each time.
  bool take_wake(moment now);

private:
  const pace& pace_of(const contender& one) const {
    return one.is_write ? writing_ : reading_;
  }

  contention& all_;
  contention own_;
  pace writing_, reading_;
  std::array<std::size_t, priorities> under_way_{}; // pieces, by urgency
  std::optional<moment> wakes_at_;
};

} // namespace perigee::transport
