/// \file
/// session: a peer that is up, and all moves to and from it.
#pragma once

#include "transport/lanes.hpp"
#include "transport/streams/job.hpp"
#include "transport/streams/link.hpp"
#include "transport/streams/server.hpp"
#include "transport/turns.hpp"

namespace perigee::transport::streams {

struct session_limits {
  /// Bytes that are asked for and not answered, on each connection. As much as is on its
  /// way anyhow, and no more: what lies in the system's buffers falls out of the caches.
  std::uint64_t window_bytes = std::uint64_t{512} << 10;

  /// Of one request: what an urgent move may have to wait for, on each connection.
  std::uint64_t request_bytes = std::uint64_t{256} << 10;

  /// A peer that owes something, and from which nothing has come nor gone for so long,
  /// is lost.
  std::chrono::nanoseconds silence_limit = std::chrono::seconds{5};
};

/// Spreads the pieces of moves over its links, the most urgent first, a bounded number
/// of bytes at once. In the thread of a loop.
class session final : public link::owner {
public:
  struct listeners {
    /// Once for every move that was taken.
    std::function<void(const job_ptr&, std::optional<fault>)> on_end;

    /// At most once, from a task of its own. The session does nothing any more, but has
    /// not ended its moves.
    std::function<void(peer_id, loss)> on_loss;

    /// Moves to and from others may go on that had to wait for moves of this.
    std::function<void()> on_eased;
  };

  /// `views` are empty, and of no more than shows itself over the first stream. `all`
  /// counts the moves of all sessions, and outlives this.
  session(event_loop& loop, peer_id who, peer_book& book, const session_limits& limits,
          peer_views views, contention& all, listeners told,
          std::vector<std::shared_ptr<stream>> streams);

  /// Whatever was taken must have ended: see end_all().
  ~session() override;

  void take(const job_ptr& one);

  /// The gate of `one` has changed.
  void wake(const job_ptr& one);

  /// Ends `one` with `why` once nothing of it is under way.
  void doom(const job_ptr& one, fault why);

  void set_rates(const rates& most);

  /// Asks for as much more as may be under way.
  void carry_on();

  /// Cuts the links, then ends all moves with `why`.
  void end_all(fault why);

private:
  struct request {
    job_ptr whose;
    piece what;
    link* over;
    bool is_ask = false; ///< To be shown the source: nothing of the move.
  };

  result<sink, loss> on_frame(link& from, frame what) override;
  void on_progress() override;
  void on_rest() override;
  void on_loss(loss why) override;

  link* link_with_room();
  std::optional<job_ptr> next_ready();
  void wake_in_time();
  void count(job& one, bool wants);
  void issue(const job_ptr& one, link& over);
  void send_piece(const job_ptr& one, link& over);
  void ask_to_see(const job_ptr& one, link& over);
  void copy_piece(const job_ptr& one, const peer_views::view& source);
  void pass_turn();
  void show_piece(const job_ptr& one, link& over);
  std::uint64_t expect_answer(request what);
  void line_up(const job_ptr& one);
  result<sink, loss> on_answer(link& from, const frame& what);
  result<sink, loss> on_shown(link& from, const request& asked, const frame& what);
  result<sink, loss> on_piece(const request& asked, const frame& what);
  void settle(const job_ptr& one);
  bool is_owed() const;
  void watch_for_silence();
  void look_for_silence();

  event_loop& loop_;
  const peer_id who_;
  const session_limits limits_;
  const listeners told_;
  peer_views views_;           // of the peer's memory
  std::set<segment_id> shown_; // of ours, to it
  server server_;
  std::vector<std::unique_ptr<link>> links_;
  std::map<move_id, job_ptr> jobs_;
  lanes<job_ptr> ready_;
  contention& all_;
  turns turns_;
  std::vector<priority> copied_; // pieces, since others had a turn
  std::uint64_t copied_bytes_ = 0;
  std::uint64_t requests_total_ = 0;
  std::map<std::uint64_t, request> requests_; // that are not answered
  moment heard_at_ = std::chrono::steady_clock::now();
  event_loop::timer_id silence_ = 0;
  event_loop::timer_id turn_ = 0;
  event_loop::timer_id free_ = 0;
  moment free_at_{}; // of that timer
  bool is_lost_ = false;
};

} // namespace perigee::transport::streams
