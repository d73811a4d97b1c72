/// \file
/// engine: the thread of rdma. What is in here is its own.
#pragma once

#include "transport/rdma/partner.hpp"
#include "transport/rdma/poller.hpp"

#include <set>

namespace perigee::transport::rdma {

class engine final : public partner_owner {
public:
  struct tools {
    const options& how;
    std::span<const std::unique_ptr<device>> devices;
    std::span<path_counters> device_counters;
    registry& registered;
    book& notes;
    inbox& tasks;
    on_peer told;
  };

  engine(tools with, streams::file listening);

  /// Until close(), and all is told.
  void work();

  // Tasks: see inbox.

  void expect(peer_id who, const ticket& shown, moment until);
  void connect(peer_id who, const tcp::address& where, const ticket& shown);
  void forget(peer_id who);
  void set_rates(peer_id who, const rates& most);
  void revoke(segment_id which);
  void begin(const peer_move_ptr& what);
  void resume(const peer_move_ptr& what);
  void doom(move_id id, fault why);
  void close();

  void is_up(peer_id who) override;
  void has_ended(const peer_move_ptr& what) override;

private:
  struct expected {
    peer_id who{};
    ticket shown;
    moment until;
  };

  /// Who has connected and not yet shown a ticket.
  struct visitor {
    line from;
    moment until;
  };

  surroundings around();
  template <class... Args>
  void add_partner(peer_id who, Args&&... how);
  partner* find(peer_id who) const;
  void heed(const std::vector<int>& news);
  bool take_completions();
  void heed_events(device& of);
  void accept_visitors();
  void heed_visitors(moment now);
  std::optional<peer_id> who_shows(const ticket& shown);
  void doom_overdue(moment now);
  void look_at_clock(moment now);
  void give_up_lost(moment now);
  void drop(peer_id who, fault why);
  std::chrono::nanoseconds may_rest(moment now) const;
  void rest();
  bool is_over();

  tools with_;
  streams::file listening_;
  poller poller_;
  path_routes routes_;
  std::vector<expected> expected_;
  std::deque<visitor> visitors_;
  std::map<peer_id, rates> rates_; // of those that have any
  contention wants_;
  std::map<peer_id, std::unique_ptr<partner>> partners_;
  std::map<move_id, peer_move_ptr> moves_;
  std::set<std::pair<moment, move_id>> deadlines_;
  std::vector<int> news_;
  moment last_completion_{};
  bool is_closing_ = false;
};

} // namespace perigee::transport::rdma
