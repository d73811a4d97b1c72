/// \file
/// reception: brings peers together, from the first knock until they are up.
#pragma once

#include "transport/streams/greeting.hpp"
#include "transport/streams/port.hpp"

#include <atomic>
#include <map>

namespace perigee::transport::streams {

struct reception_limits {
  std::uint8_t links = 1; ///< Connections to a peer that this side connects to.

  /// For a connection to be made, and for a stranger to show a ticket.
  std::chrono::nanoseconds greeting_limit = std::chrono::seconds{5};

  /// Who have connected and not shown a ticket yet: then the oldest is cut off.
  std::size_t strangers_max = 64;
};

/// A peer's connections all come in the same way, each showing the ticket once with its
/// own index; when the last is there, the peer is up and the ticket void. In the thread
/// of a loop, but for strangers_total().
class reception {
public:
  using streams = std::vector<std::shared_ptr<stream>>;

  struct listeners {
    std::function<void(peer_id, streams)> on_up;
    std::function<void(peer_id, loss)> on_loss; ///< Instead of on_up.
  };

  reception(event_loop& loop, std::unique_ptr<port> way, const reception_limits& limits,
            listeners told);
  ~reception();

  const port& way() const {
    return *port_;
  }

  void expect(peer_id who, const ticket& shown, moment until);
  void connect(peer_id who, const endpoint& where, const ticket& shown);

  /// Calls it off: nobody is told. Leaves alone who is up.
  void forget(peer_id who);

  /// Nobody else comes or goes from here.
  void close();

  /// Any thread.
  std::uint64_t strangers_total() const {
    return strangers_total_;
  }

private:
  using number = std::uint64_t;

  struct meeting {
    std::optional<ticket> expected{}; // nothing: this side connects
    streams present{};
    std::size_t missing = 0;
    std::vector<bool> promised{};                       // who may come in, by index
    std::vector<std::unique_ptr<greeting>> greetings{}; // of this side
    event_loop::timer_id limit = 0;
  };

  struct stranger {
    std::unique_ptr<greeting> talk;
    std::optional<std::pair<peer_id, std::size_t>> is{}; // who it turned out to be
  };

  void open();
  void on_knock();
  void let_talk(std::shared_ptr<stream> over);
  bool admits(number who, const hello& shown);
  void on_talked(number who, const result<std::shared_ptr<stream>, loss>& came);
  void arrived(peer_id who, std::size_t index, std::shared_ptr<stream> over);
  void lose(peer_id who, loss why);
  void erase(peer_id who);

  event_loop& loop_;
  const std::unique_ptr<port> port_;
  const reception_limits limits_;
  const listeners told_;
  std::map<peer_id, meeting> meetings_;
  number strangers_seen_ = 0;
  std::map<number, stranger> strangers_; // oldest first
  std::atomic<std::uint64_t> strangers_total_ = 0;
  event_loop::watch_id watch_ = 0;
  event_loop::timer_id pause_ = 0;
};

} // namespace perigee::transport::streams
