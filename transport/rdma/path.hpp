/// \file
/// path: from a device here to a device of a peer.
#pragma once

#include "transport/rdma/grant.hpp"
#include "transport/rdma/peer_move.hpp"
#include "transport/rdma/wire.hpp"

#include <atomic>
#include <map>

namespace perigee::transport::rdma {

class path;

struct path_options {
  queue_pair_options pair;
  std::uint64_t bytes_max = 0;         ///< In flight at once; one piece always may be.
  std::chrono::nanoseconds rest_min{}; ///< After the first failure; then twice as long
  std::chrono::nanoseconds rest_max{}; ///< each time, up to this.
};

/// What is counted of a path or a device. Any thread may read.
struct path_counters {
  std::atomic<std::uint64_t> bytes_total = 0;         ///< Read and written from here.
  std::atomic<std::uint64_t> work_requests_total = 0; ///< That were done.
  std::atomic<std::uint64_t> failures_total = 0;      ///< Of a queue pair.
  std::atomic<std::uint64_t> connections_total = 0;   ///< It has come up so often.
  std::atomic<bool> is_up = false;
};

/// Numbers that tell which path a completion belongs to. A queue pair has its own, and
/// never one that another had: what still comes of one that is gone is nobody's.
class path_routes {
public:
  std::uint64_t add(path* to) {
    routes_.emplace(++last_, to);
    return last_;
  }
  void remove(std::uint64_t route) {
    routes_.erase(route);
  }
  path* find(std::uint64_t route) const {
    auto at = routes_.find(route);
    return at == routes_.end() ? nullptr : at->second;
  }

private:
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, path*> routes_;
};

/// Who owns a path, and hears of it.
class path_owner {
public:
  virtual void say(const message& what) = 0;

  virtual void has_come_up(path& which) = 0;

  /// It is up, and has room again or new keys.
  virtual void can_go_on(path& which) = 0;

  /// It is up no longer.
  virtual void has_failed(path& which) = 0;

  virtual void arrived(const peer_move_ptr& whose, const piece& one) = 0;

  /// `one` was not moved. With a fault, the move is to blame; else the path.
  virtual void came_back(const peer_move_ptr& whose, const piece& one,
                         std::optional<fault> why)
    = 0;

protected:
  ~path_owner() = default;
};

/// Its stages: resting → offered → connected → probing → up, and from any of them
/// fenced → resting. See wire.hpp. What was in flight when it failed comes back once it
/// is fenced, that is, once no late packet of it can do anything at the other end.
///
/// Of one thread.
class path {
public:
  path(std::uint8_t number, device& from, std::size_t device_number,
       const port_address& to, const path_options& how, path_routes& routes,
       path_owner& owner, path_counters& device_counters);
  path(const path&) = delete;
  path& operator=(const path&) = delete;
  ~path();

  // What goes over it.

  bool is_up() const {
    return stage_ == stage::up;
  }
  bool has_room(bool is_read) const;
  bool has_keys(segment_id there) const {
    return keys_.contains(there);
  }
  /// From the memory here to that there, by way of this path.
  unsigned distance(const peer_move& whose) const;
  std::uint64_t bytes_in_flight() const {
    return bytes_in_flight_;
  }

  /// Posts an outstanding piece, or as much of it as lies in one piece of registered
  /// memory here and there. It must be up, have room and keys.
  void post(const peer_move_ptr& whose, piece one);

  /// Whether pieces of `whose` are in flight.
  bool carries(const peer_move& whose) const;

  // What the peer may reach through it.

  void let(segment_id which, registration_ptr what);
  void revoke(segment_id which);

  // What happens to it.

  /// False if the peer has broken the protocol.
  bool hear(const say::fresh& it);
  bool hear(const say::ready& it);
  bool hear(const say::ended& it);
  bool hear(const say::keys& it, const segment& of);
  void forget_keys(segment_id there) {
    keys_.erase(there);
  }

  void completed(const ibv_wc& one);

  /// It does not work, or is to drop what is in flight.
  void fail(bool by_access = false);

  /// To be called every now and then while it is busy_with_time().
  void look_at_clock(moment now);
  bool is_busy_with_time() const {
    return stage_ == stage::resting || stage_ == stage::fenced;
  }

  /// Since when the peer owes word that it has ended its side.
  std::optional<moment> owed_since() const;

  /// Drops everything at once: the peer is gone. What was in flight comes back.
  void end();

  const path_counters& counters() const {
    return counters_;
  }
  const device& from() const {
    return from_;
  }

private:
  enum class stage : std::uint8_t { resting, offered, connected, probing, up, fenced };
  enum class errand : std::uint8_t { none, probe, bind, move };

  struct flight {
    errand kind = errand::none;
    segment_id granted{};
    peer_move_ptr whose{};
    piece what{};
  };

  say::path_life life() const {
    return {number_, generation_};
  }
  void offer();
  void advance();
  void begin_generation();
  void come_up();
  void bind_more();
  void tell_keys(segment_id which, grant& what);
  void drop_pair();
  void return_held();
  std::uint64_t take_slot(errand kind);
  void release(std::size_t slot);
  void succeeded(const flight& one);
  void blame(const flight& one, ibv_wc_status status);

  const std::uint8_t number_;
  device& from_;
  const std::size_t device_number_;
  const port_address to_;
  const path_options how_;
  path_routes& routes_;
  path_owner& owner_;
  path_counters& device_counters_;
  path_counters counters_;

  stage stage_ = stage::resting;
  std::uint32_t generation_ = 1;
  std::optional<queue_pair> pair_;
  std::uint64_t route_ = 0;
  std::uint32_t first_packet_ = 0;
  std::optional<queue_pair_address> theirs_;
  bool they_are_ready_ = false;
  bool they_have_ended_ = false;
  moment since_{}; // in this stage
  moment rest_until_{};
  unsigned failures_ = 0; // in a row

  std::vector<flight> flights_;
  std::vector<std::uint16_t> free_;
  std::vector<std::pair<flight, std::optional<fault>>> held_; // until it is fenced
  std::uint64_t bytes_in_flight_ = 0;
  unsigned reads_in_flight_ = 0;

  std::map<segment_id, grant> grants_;
  std::map<segment_id, say::keys> keys_;
};

} // namespace perigee::transport::rdma
