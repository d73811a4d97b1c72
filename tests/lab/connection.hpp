/// \file
/// connection: what CAF's network layer is between two processes, in virtual time.
///
/// Bound to CAF 0.17: who is elsewhere is known by a proxy, as there.
#pragma once

#include "tests/lab/fleet.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

namespace perigee::test {

/// Messages between two processes: in order each way, after a while, as long as both
/// ends are open. Handles that travel beside a message become proxies at the other end.
/// When an end closes, its own proxies end at once; the other end hears of that after
/// all that was said before.
class connection : public std::enable_shared_from_this<connection> {
public:
  enum side : std::size_t { dialer, dialed };

  connection(fleet& all, const std::shared_ptr<process>& from,
             const std::shared_ptr<process>& to);

  /// `whom`, an actor of the dialed process, as the dialer knows it.
  caf::strong_actor_ptr found(const caf::strong_actor_ptr& whom);

  /// Neither end has closed.
  bool is_open() const {
    return !ends_[dialer].is_closed && !ends_[dialed].is_closed;
  }

  /// Nobody has anything more to hear over it.
  bool is_over() const {
    return std::ranges::all_of(
      ends_, [](const end& one) { return one.is_closed || one.home.expired(); });
  }

  /// Which end `one` has.
  side side_of(const process& one) const;
  std::shared_ptr<process> home_of(side one) const {
    return ends_[one].home.lock();
  }

  /// `at` has given the other up: it was silent.
  void give_up(side at);

  /// The process at `at` is killed, and says no more: before its actors end.
  void kill(side at);

private:
  class far_actor;

  /// Makes a message's content as one end knows it.
  using unpacked = std::function<caf::message(connection& over, side at)>;

  struct end {
    std::weak_ptr<process> home;
    bool is_closed = false;
    std::map<caf::actor_id, caf::strong_actor_ptr> shown; ///< Of here, known there.
    std::map<caf::actor_id, caf::strong_actor_ptr> known; ///< Proxies here.
    fleet::nanoseconds last_due{};                        ///< Of what comes here.
  };

  static side other(side one) {
    return one == dialer ? dialed : dialer;
  }

  void send(side from, caf::actor_id to, caf::mailbox_element& what);
  void post(side to, std::function<void(connection&)> what);
  void deliver(side at, caf::actor_id to, caf::actor_id sender, caf::message_id id,
               const unpacked& content);
  unpacked pack(side from, const caf::message& what);
  template <class T, class... Handles, std::size_t... Is>
  unpacked pack_as(side from, const caf::message& what, std::index_sequence<Is...>);
  template <class T, class... Handles>
  bool try_pack(side from, const caf::message& what, unpacked& into);
  template <class... Handles>
  bool try_pack_join(side from, const caf::message& what, unpacked& into);
  caf::actor_id show(side from, const caf::strong_actor_ptr& whom);
  caf::strong_actor_ptr proxy(side at, caf::actor_id whom);
  void close(side at);

  fleet& all_;
  std::array<end, 2> ends_;
};

} // namespace perigee::test
