/// \file
/// session_turns: when each turn of a trace's sessions is sent.
#pragma once

#include "workload/request.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace perigee::app {

/// A turn with a `think` is sent so long after its session's turn before it was answered;
/// if that was not served, it is never sent, and neither is one behind it. One without
/// waits for nothing, and so does a session's first one: the trace may be a part. Keeps
/// some 60 bytes for each session there was, and those turns that wait.
class session_turns {
public:
  using nanoseconds = std::chrono::nanoseconds;
  using request = workload::request;

  enum class fate : std::uint8_t {
    now,   ///< It is to be sent, and `ended()` to be called if it has a session.
    later, ///< It was kept: `pop()` gives it when it is due.
    never, ///< It is not sent.
  };

  /// What becomes of `one`, whose arrival is `now`. It is moved from only if it is kept.
  fate take(request& one, nanoseconds now);

  /// A turn of `session` that was sent has ended. Returns those that are not sent
  /// because of it.
  std::deque<request> ended(std::uint64_t session, bool is_served, nanoseconds at);

  /// Whether any turn waits.
  bool waits() const {
    return !waiting_.empty();
  }

  /// When a turn is to be sent, as far as is known by now.
  std::optional<nanoseconds> next_due() const;

  /// The turn that is due next, which is to be sent. There is one: anything else is a
  /// bug.
  request pop();

  /// All that wait: nobody will answer them any more.
  std::vector<request> give_up();

private:
  struct state {
    std::uint32_t open = 0; ///< Turns sent that have not ended.
    bool is_over = false;
    nanoseconds answered{};
  };

  struct waiting_line {
    std::deque<request> turns;      ///< At least one.
    std::optional<nanoseconds> due; ///< Of the first one; it stands in `due_`, too.
  };

  void look_at_first(std::uint64_t session, nanoseconds now);

  std::unordered_map<std::uint64_t, state> sessions_;
  std::map<std::uint64_t, waiting_line> waiting_;
  std::set<std::pair<nanoseconds, std::uint64_t>> due_;
};

} // namespace perigee::app
