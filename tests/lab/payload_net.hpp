/// \file
/// payload_net: the memory of several processes, and moves between them, in virtual
/// time.
#pragma once

#include "tests/lab/fleet.hpp"
#include "transport/move_run.hpp"
#include "transport/peer.hpp"

#include <map>
#include <memory>

namespace perigee::test {

/// What moves bytes while a process is stopped.
enum class mover : std::uint8_t {
  threads, ///< Nothing of its own, nor what others want of its memory: as tcp.
  cards,   ///< All that it had begun, and what others want: as rdma.
};

/// Makes peer transports that reach into each other's memory, bit by bit, for as long
/// as their contract lets them: what an owner believes to be safe too soon is written
/// to.
class payload_net {
public:
  payload_net(fleet& all, mover by) : all_(all), by_(by) {}
  payload_net(const payload_net&) = delete;
  payload_net& operator=(const payload_net&) = delete;

  std::unique_ptr<transport::peer_transport>
  open(std::shared_ptr<process> home, const transport::segment_table& segments,
       transport::on_peer told);

  /// Moves that ended well.
  std::uint64_t moves_total() const {
    return moves_total_;
  }

  /// Moves of who had been forgotten, or given up, that were kept from its memory.
  std::uint64_t fenced_total() const {
    return fenced_total_;
  }

  /// Moves that went on reaching into memory of who was about to forget, or to be told
  /// that the peer was lost.
  std::uint64_t late_total() const {
    return late_total_;
  }

private:
  class end;
  struct line;
  struct job;

  fleet& all_;
  const mover by_;
  std::uint64_t ends_made_ = 0;
  std::map<std::uint64_t, end*> ends_;
  std::uint64_t moves_total_ = 0;
  std::uint64_t fenced_total_ = 0;
  std::uint64_t late_total_ = 0;
};

} // namespace perigee::test
