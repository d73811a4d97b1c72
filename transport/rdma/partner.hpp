/// \file
/// partner: a peer, as the engine's thread deals with it.
#pragma once

#include "transport/lanes.hpp"
#include "transport/rdma/book.hpp"
#include "transport/turns.hpp"

namespace perigee::transport::rdma {

/// Who owns partners, and hears of them.
class partner_owner {
public:
  virtual void is_up(peer_id who) = 0;
  virtual void has_ended(const peer_move_ptr& what) = 0;

protected:
  ~partner_owner() = default;
};

/// What partners are given to work with.
struct surroundings {
  const options& how;
  std::span<const std::unique_ptr<device>> devices;
  std::span<path_counters> device_counters;
  registry& registered;
  book& notes;
  path_routes& routes;
  contention& wants; ///< Of all partners.
  partner_owner& owner;
};

/// Has a line to the peer and, once they have greeted each other, paths; and the moves
/// to and from it. Of one thread.
class partner final : public path_owner {
public:
  /// One that is to be connected to, at `where`.
  partner(surroundings all, peer_id who, const tcp::address& where,
          const ticket& shown);

  /// One that has connected and shown its ticket.
  partner(surroundings all, peer_id who, line accepted, const say::hello& greeting);

  partner(const partner&) = delete;
  partner& operator=(const partner&) = delete;

  const peer_id id;

  int fd() const {
    return line_.fd();
  }
  bool wants_room() const {
    return line_.wants_room();
  }

  /// Why it is to be given up, if it is.
  loss is_lost(moment now) const;

  /// Goes on with what its line has brought, and has room for.
  void heed_line();

  void begin(const peer_move_ptr& what);
  void resume(const peer_move_ptr& what);
  void doom(const peer_move_ptr& what, fault why);

  /// Its segments' windows end, and it is told.
  void revoke(segment_id which);

  void set_rates(const rates& most);

  /// Moves of others have ended that some here may have waited for.
  void others_have_eased() {
    can_go_on_ = true;
  }

  /// When there is something to pump that is too early now.
  std::optional<moment> wakes_at() const {
    return turns_.wakes_at();
  }

  /// Posts what there is room for, if anything has changed since the last time.
  void pump();

  void look_at_clock(moment now);
  /// Whether look_at_clock() is to be called soon.
  bool is_busy_with_time() const;

  /// The port of `which` is down.
  void port_has_failed(const device& which);

  /// Whether something is in flight, so that polling is worthwhile.
  bool is_in_flight() const;

  /// Ends all that there is of it at once: after this the peer reaches no memory here.
  /// Its moves end with `why`.
  void end(fault why);

  void say(const message& what) override;
  void can_go_on(path& which) override;
  void has_come_up(path& which) override;
  void has_failed(path& which) override;
  void arrived(const peer_move_ptr& whose, const piece& one) override;
  void came_back(const peer_move_ptr& whose, const piece& one,
                 std::optional<fault> why) override;

private:
  enum class asked : std::uint8_t { waiting, denied };

  void greet(const std::vector<port_address>& theirs, bool we_connected);
  std::vector<port_address> our_ports() const;

  bool hear(const message& what);
  bool on(const say::hello&);
  bool on(const say::welcome& it);
  bool on(const say::want& it);
  bool on(const say::keys& it);
  bool on(const say::denied& it);
  bool on(const say::revoked& it);
  bool on(const say::ended& it);
  template <class T>
    requires requires(T it) {
      it.of;
    }
  bool on(const T& it);
  path* path_of(say::path_life of);

  enum class step : std::uint8_t { gone_on, blocked };
  step go(const peer_move_ptr& what);
  void post(const peer_move_ptr& what, path& over);
  path* choose(const peer_move& what) const;
  void ask_for(segment_id there);
  void enqueue(const peer_move_ptr& what);
  void settle(const peer_move_ptr& what);
  bool has_path() const;

  surroundings all_;
  turns turns_;
  line line_;
  bool is_greeted_ = false;
  bool has_been_up_ = false;
  bool is_unsound_ = false;
  moment begun_ = std::chrono::steady_clock::now();
  std::optional<moment> stranded_since_;
  std::vector<std::unique_ptr<path>> paths_;
  std::map<segment_id, registration_ptr> granted_; // that it has asked for
  std::map<segment_id, asked> wanted_;             // that we have
  std::map<move_id, peer_move_ptr> moves_;
  lanes<peer_move_ptr> ready_;
  std::deque<peer_move_ptr> blocked_; // ready, but no path had room, or keys
  bool can_go_on_ = false;
};

} // namespace perigee::transport::rdma
