/// \file
/// book: what the callers of rdma and its thread both know.
#pragma once

#include "transport/rdma/line.hpp"
#include "transport/rdma/path.hpp"
#include "transport/rdma/rdma.hpp"
#include "transport/streams/peer_book.hpp"

namespace perigee::transport::rdma {

class engine;

/// Work that callers leave for the engine's thread. Gates hold it weakly.
class inbox {
public:
  using task = std::function<void(engine&)>;

  inbox();

  void leave(task what);
  std::deque<task> take();

  /// Readable when something was left.
  int fd() const {
    return bell_.fd();
  }

private:
  streams::file bell_;
  std::mutex mutex_;
  std::deque<task> tasks_;
};

/// Moves that are outstanding, peers and their segments, and what is counted. Any
/// thread may use it; it calls nobody.
class book {
public:
  book(const segment_table& here, const options& how)
    : peers(here, {.peers_max = how.peers_max, .segments_max = how.segments_max}),
      outstanding_max_(how.outstanding_max) {}

  streams::peer_book peers;

  tl::unexpected<fault> refused(fault why);
  /// Refuses with busy and closed. A number that is outstanding is a bug.
  result<void, fault> begin(move_id id, peer_id with);
  /// Whether the move is outstanding and was not doomed before.
  bool doom(move_id id);
  void ended(const peer_move& what, const outcome& came);
  statistics counted() const;

  /// All is refused from now on.
  void close();
  bool is_closed() const;

  /// Of a peer; they outlive it, or are taken back before.
  void set_paths(peer_id who, std::vector<const path*> paths);
  std::vector<path_report> paths_of(peer_id who) const;

  void turned_away_stranger();
  std::uint64_t strangers_total() const;

private:
  using lock = std::lock_guard<std::mutex>;

  const std::size_t outstanding_max_;
  mutable std::mutex mutex_;
  bool is_closed_ = false;
  std::map<move_id, bool> moves_; // doomed?
  std::map<peer_id, std::vector<const path*>> paths_;
  tally tally_;
  std::uint64_t strangers_total_ = 0;
};

path_report report_of(const std::string& device, const path_counters& counters);

} // namespace perigee::transport::rdma
