/// \file
/// peer_move: a move to or from a peer, in pieces that go over several paths at once.
#pragma once

#include "transport/move_run.hpp"
#include "transport/peer.hpp"
#include "transport/rdma/registry.hpp"
#include "transport/streams/event_loop.hpp"
#include "transport/turns.hpp"

#include <atomic>
#include <deque>

namespace perigee::transport::rdma {

using streams::after;
using streams::moment;

/// Bytes that lie together at both ends, and which row of the move they belong to: its
/// layer, where a gate is involved, else 0.
struct piece {
  slice part;
  std::uint32_t row = 0;
};

/// Used by the engine's thread alone, but for what is constant, and `parked`. Where
/// pieces are and which have arrived is counted here; the bytes are the NIC's.
class peer_move : public contender {
public:
  peer_move(move_id number, move what, peer_id with, bool writes,
            registration_ptr registered, on_done told);

  const move_id id;
  const peer_id peer;
  const moment deadline;
  const registration_ptr here;

  /// It waits for its gate, in no lane. Who sets it to false puts it into one.
  std::atomic<bool> parked = false;
  std::uint64_t watch = 0; ///< Of its gate.
  bool in_lane = false;    ///< It waits there for its turn, or for room.

  const move& what() const {
    return *what_;
  }
  segment_id there() const {
    return is_write ? what_->to : what_->from;
  }
  std::uint64_t offset_here(const piece& one) const {
    return is_write ? one.part.from : one.part.to;
  }
  std::uint64_t offset_there(const piece& one) const {
    return is_write ? one.part.to : one.part.from;
  }

  enum class state : std::uint8_t {
    ready,    ///< next() has something.
    waiting,  ///< For its gate.
    starved,  ///< Its gate has failed: doom() it.
    draining, ///< Nothing is to be posted, something is outstanding.
    over,     ///< Neither.
  };
  state look() const;

  /// The next piece, outstanding from now on.
  piece next(std::uint64_t bytes_max);

  /// Shortens an outstanding piece; what is cut off comes next.
  void cut(piece& one, std::uint64_t bytes);

  /// An outstanding piece was not moved. It comes again, unless the move is doomed.
  void give_back(const piece& one);

  /// An outstanding piece has arrived. Opens gates.
  void arrived(const piece& one);

  /// The move is to end with `why`; the first reason counts. Nothing more is posted.
  void doom(fault why);

  std::optional<fault> doomed() const {
    return doom_;
  }
  moment doomed_at() const {
    return doomed_at_;
  }

  /// Its outcome, once it is over. Tells its gate.
  outcome end();

  void tell(const outcome& came) const {
    then_(id, came);
  }

private:
  bool by_layer() const {
    return what_->wait_for || what_->opens;
  }
  void open();

  const std::unique_ptr<const move> what_; // the walk points into it
  const on_done then_;
  slice_walk walk_;
  std::deque<piece> again_;            // before the walk goes on
  std::vector<std::uint32_t> missing_; // by row: pieces that have not arrived
  std::uint32_t rows_opened_ = 0;
  std::size_t outstanding_ = 0;
  std::uint64_t bytes_ = 0;
  std::optional<fault> doom_;
  moment doomed_at_{};
};

using peer_move_ptr = std::shared_ptr<peer_move>;

} // namespace perigee::transport::rdma
