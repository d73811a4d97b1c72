/// \file
/// book: what the callers of rdma and its thread both know.
#pragma once

#include "transport/rdma/line.hpp"
#include "transport/rdma/path.hpp"
#include "transport/rdma/rdma.hpp"
#include "transport/tally.hpp"

#include <set>

namespace perigee::transport::verbs {

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
    return news_.get();
  }

private:
  owned_fd news_;
  std::mutex mutex_;
  std::deque<task> tasks_;
};

/// Peers, their segments and the moves that are outstanding. Any thread may use it; it
/// calls nobody.
class book {
public:
  explicit book(const rdma_options& how) : how_(how) {}

  // Peers.

  /// Refuses with busy and closed. A peer that is known already is a bug.
  result<void, fault> add_peer(peer_id who);
  void set_state(peer_id who, peer_state state);
  void set_paths(peer_id who, std::vector<const path*> paths);
  void erase_peer(peer_id who);
  std::optional<peer_state> state_of(peer_id who) const;
  std::optional<peer_statistics> counted_of(peer_id who) const;
  std::vector<rdma_path_report> paths_of(peer_id who) const;
  void refused_request(peer_id who);

  // Their segments.

  result<void, fault> learn(peer_id who, const segment& what);

  struct remote_segment {
    peer_id owner{};
    bool is_up = false; ///< The owner.
    segment what;
  };
  std::optional<remote_segment> find(segment_id which) const;

  // Moves.

  tl::unexpected<fault> refused(fault why);
  /// Refuses with busy and closed. A number that is outstanding is a bug.
  result<void, fault> begin(move_id id);
  /// Whether the move is outstanding and was not doomed before.
  bool doom(move_id id);
  void ended(const peer_move& what, const outcome& came);
  statistics counted() const;

  /// All is refused from now on.
  void close();

  void turned_away_stranger();
  std::uint64_t strangers_total() const;

private:
  using lock = std::lock_guard<std::mutex>;

  struct entry {
    std::optional<peer_state> state; // none: expected, or on its way
    tally moves;
    std::uint64_t requests_refused_total = 0;
    std::size_t segments = 0;
    std::vector<const path*> paths;
  };

  const rdma_options& how_;
  mutable std::mutex mutex_;
  bool is_closed_ = false;
  std::map<peer_id, entry> peers_;
  std::map<segment_id, remote_segment> segments_;
  std::map<move_id, bool> moves_; // doomed?
  tally tally_;
  std::uint64_t strangers_total_ = 0;
};

rdma_path_report report_of(const std::string& device, const path_counters& counters);

} // namespace perigee::transport::verbs
