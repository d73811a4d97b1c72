/// \file
/// peer_transport: moves between this process and others.
#pragma once

#include "transport/pace.hpp"
#include "transport/transport.hpp"

#include <optional>

namespace perigee::transport {

/// Names one life of another process, as this one calls it. The caller chooses, and
/// never again the same: a peer that was lost comes back as another.
enum class peer_id : std::uint64_t {};

/// Bytes that only back ends understand, for messages to carry.
using opaque = std::vector<std::byte>;
inline constexpr std::size_t opaque_bytes_max = 1024;

/// How to reach a process.
using endpoint = opaque;

/// One segment of a process, as its peers need it.
using descriptor = opaque;

/// Proves to who accepts who it is that connects. Good for one peer, once. Whoever
/// issues it draws it from a source that nobody can guess.
struct ticket {
  std::array<std::byte, 32> secret{};

  /// Takes equally long wherever they differ.
  bool operator==(const ticket& other) const {
    std::byte differences{};
    for (std::size_t i = 0; i < secret.size(); ++i)
      differences |= secret[i] ^ other.secret[i];
    return differences == std::byte{};
  }
};

enum class peer_state : std::uint8_t {
  up = 1,    ///< Moves to and from it may be submitted.
  lost,      ///< It was up, or should have been, and is not.
  forgotten, ///< forget() has taken effect.
};

/// Why a peer was lost.
enum class loss : std::uint8_t {
  none,        ///< It was not.
  unreachable, ///< Nobody is there, or nobody came in time.
  turned_away, ///< It did not accept the ticket, or has another version or certificate.
  disconnected, ///< It has closed, or ended, or the network has given up.
  silent,       ///< It owes answers and says nothing.
  unsound,      ///< It has broken the protocol.
};
inline constexpr std::size_t losses = 6;

struct peer_news {
  peer_state state{};
  loss why = loss::none; ///< Of lost alone.

  bool operator==(const peer_news&) const = default;
};

using on_peer = std::function<void(peer_id, const peer_news&)>;

/// What came of one peer.
struct peer_statistics {
  statistics moves;                         ///< Submitted here.
  std::uint64_t bytes_written_total = 0;    ///< Into memory here, as it asked.
  std::uint64_t bytes_read_total = 0;       ///< Of memory here, as it asked.
  std::uint64_t requests_refused_total = 0; ///< Well-formed, and wrong.
};

/// Moves bytes between segments of this process and segments of its peers. Of a move,
/// one segment is in this process's segment_table, and learn() has told of the other:
/// `from` here and `to` there is a write, the other way round a read.
///
/// All that transport.hpp says holds. Moreover:
///
/// **Who may connect.** Who shows a ticket that expect() was told, while it is good.
/// Everybody else is cut off and counted in strangers_total().
///
/// **What a peer can reach.** Segments that were described here, as long as they are in
/// the table. A request for anything else is refused and counted, and disturbs nobody.
/// A peer that breaks the protocol is lost.
///
/// **Who owns the memory at the other end.** It belongs to the move as it does here,
/// and no longer once `then` is called; with one exception: with peer_lost and closed
/// nothing is known of the peer. What the move was to write there may still be written
/// until the transport *there* has told that it lost, or has forgotten, this process.
///
/// **Deadlines.** An abort, and a limit that has passed, stop what has not begun, and
/// end the move once the peer has answered all that has. A peer that does not is lost,
/// as `silent`, and the move ends with peer_lost.
///
/// **Whose turn it is.** The most urgent move's, of each peer. Where moves of several
/// peers want the wire, those that are less urgent than another peer's keep one request
/// under way, and no more.
///
/// **Which thread.** `then` and `on_peer` are called by one thread of the back end's
/// own, the same; what was said there of `then` holds for both. Once closed, no peer can
/// reach memory here, and nothing is told of any.
///
/// submit() also refuses with peer_lost, if the peer is not up. A move between two
/// segments of this process is none of this: `gone`.
class peer_transport : public transport {
public:
  /// To be given to those who are to connect.
  virtual endpoint here() const = 0;

  /// From now on and `for_how_long`, who shows `shown` is `who`. If nobody does, the
  /// peer is lost as unreachable. Refuses with busy (as many peers as there may be) and
  /// closed. A peer that is known already is a bug.
  virtual result<void, fault> expect(peer_id who, const ticket& shown,
                                     std::chrono::nanoseconds for_how_long)
    = 0;

  /// Begins to connect to `who`, which expects `shown`; it is then told as up or lost.
  /// Refuses with busy, closed, and refused: `where` is nothing this back end may
  /// connect to. A peer that is known already is a bug.
  virtual result<void, fault> connect(peer_id who, const endpoint& where,
                                      const ticket& shown)
    = 0;

  /// From now on, what this process asks to be moved to and from `who` is no faster than
  /// that. Nothing for a peer that is not known.
  virtual void set_rates(peer_id who, const rates& most) = 0;

  /// Makes the segment one that peers may reach, and says how. Refuses with gone, and
  /// with refused: it is memory that this back end cannot show to peers.
  virtual result<descriptor, fault> describe(segment_id which) = 0;

  /// Takes note of a segment of `who`. Refuses with gone (no such peer, or it is lost),
  /// busy (it has as many as it may), and refused: no descriptor of this back end's, or
  /// the segment's id names another one. To be told the same twice is fine.
  virtual result<void, fault> learn(peer_id who, const descriptor& what) = 0;

  /// Ends all moves to and from `who` with peer_lost, and all it has asked for. Returns
  /// at once; once `forgotten` is told it can no longer reach memory here, and its
  /// segments are unknown. Is told of a peer that nobody knows, too.
  virtual void forget(peer_id who) = 0;

  /// Nothing for a peer that is not known, or no longer.
  virtual std::optional<peer_statistics> counted_of(peer_id who) const = 0;

  /// Who came without a valid ticket, or never showed one.
  virtual std::uint64_t strangers_total() const = 0;
};

} // namespace perigee::transport
