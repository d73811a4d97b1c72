/// \file
/// job: a move that was submitted, and who waits for it.
#pragma once

#include "transport/streams/event_loop.hpp"
#include "transport/streams/peer_book.hpp"
#include "transport/streams/peer_move.hpp"
#include "transport/turns.hpp"

#include <atomic>

namespace perigee::transport::streams {

class session;

/// Used by the loop's thread, but for what is const or atomic.
struct job : contender {
  job(move_id number, move what, segment local, const segment& remote, peer_id with,
      bool writes, on_done told)
    : contender{what.urgency, writes}, id(number), peer(with), here(std::move(local)),
      there_bytes(remote.blocks * remote.shape.block_bytes()),
      deadline(after(what.limit)), run(std::move(what), here.shape),
      then(std::move(told)) {}

  const move_id id;
  const peer_id peer;
  const segment here;
  const std::uint64_t there_bytes; ///< Of the peer's segment.
  const moment deadline;
  peer_move run;
  on_done then;

  session* at = nullptr;       ///< Who carries it out; null before, and after.
  std::optional<fault> doom{}; ///< It is to end with this once all is answered.
  bool is_parked = false;      ///< Waits for its gate, in no lane.
  std::uint64_t gate_watch = 0;
  event_loop::timer_id limit = 0;
  std::atomic<bool> is_woken = false; ///< The gate has changed, which is being told.
};

using job_ptr = std::shared_ptr<job>;

} // namespace perigee::transport::streams
