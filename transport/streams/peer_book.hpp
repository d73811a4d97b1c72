/// \file
/// peer_book: whom a transport knows, what they have, and what they may reach here.
#pragma once

#include "transport/peer.hpp"
#include "transport/tally.hpp"

#include <set>

namespace perigee::transport::streams {

/// What descriptors of these back ends say.
descriptor describe_segment(const segment& what);

/// Nothing if that is none, or of a shape that no segment has. It has no base.
std::optional<segment> read_descriptor(const descriptor& what);

struct book_limits {
  std::size_t peers_max = 1024;
  std::size_t segments_max = 256; ///< Of each peer.
  std::size_t shown_max = 4096;   ///< Segments here that peers may reach.
};

/// Any thread may use it.
class peer_book {
public:
  peer_book(const segment_table& here, book_limits limits)
    : here_(here), limits_(limits) {}

  /// A peer that is not up yet. Refuses with busy; one that is known is a bug.
  result<void, fault> add(peer_id who);
  void set_state(peer_id who, peer_state now);
  void erase(peer_id who);

  result<void, fault> learn(peer_id who, const descriptor& what);

  /// Of a segment that a peer has.
  struct finding {
    peer_id whose{};
    segment what;
    bool is_up = false;
  };
  std::optional<finding> find(segment_id which) const;

  /// Peers may reach it from now on, as long as it is in the table. Refuses with busy.
  result<void, fault> show(segment_id which);

  /// Of what was shown and is still there.
  std::optional<segment> find_shown(segment_id which) const;

  // -- counting; a peer that is not known is left out ----------------------------------

  void began(peer_id whose);
  void ended(peer_id whose, const outcome& what);
  void missed(peer_id whose, fault why); ///< submit() has refused.
  void served_write(peer_id whom, std::uint64_t bytes);
  void served_read(peer_id whom, std::uint64_t bytes);
  void refused_request(peer_id whose);
  std::optional<peer_statistics> counted_of(peer_id who) const;

private:
  struct entry {
    std::optional<peer_state> state; // nothing: not up yet
    std::map<segment_id, segment> segments;
    tally moves;
    std::size_t outstanding = 0;
    peer_statistics served; // but for its moves
  };

  template <class Change>
  void change(peer_id who, Change how) {
    std::lock_guard held{mutex_};
    if (auto at = peers_.find(who); at != peers_.end())
      how(at->second);
  }

  const segment_table& here_;
  const book_limits limits_;
  mutable std::mutex mutex_;
  std::map<peer_id, entry> peers_;
  std::map<segment_id, peer_id> owners_; // of all segments in peers_
  std::set<segment_id> shown_;
};

} // namespace perigee::transport::streams
