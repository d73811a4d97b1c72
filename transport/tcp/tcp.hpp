/// \file
/// tcp: moves between processes over TCP, between hosts or on one.
#pragma once

#include "transport/streams/stream_transport.hpp"

#include <string>

namespace perigee::transport::tcp {

/// What both ends prove who they are with. PEM files.
struct certificates {
  std::string authority{};   ///< Who has signed the peers'.
  std::string certificate{}; ///< This process's, with what leads up to the authority.
  std::string key{};
};

struct options {
  std::string listen = "127.0.0.1:0"; ///< Numbers; "[::1]:0" for IPv6.

  /// What peers are to connect to, if it is not what is listened at: numbers again.
  /// Without a port, as in "192.0.2.1:0", it is the one that is listened at.
  std::string advertise{};

  std::optional<certificates> tls{};

  /// Lets it go without TLS beyond this machine.
  bool insecure = false;

  std::uint8_t links = 4; ///< Connections to a peer that this side connects to.
  streams::stream_limits limits{};
};

/// Why there is no transport: a sentence for who has set it up.
struct setup_fault {
  std::string what;
};

/// Begins to listen. Refuses with: no address, or one that others could not connect to;
/// one beyond this machine without TLS, unless `insecure`; an address that the system
/// does not give; certificates that can't be read or don't fit; no descriptors left.
///
/// **When bytes are visible.** What is written to a peer lies in its memory when it has
/// answered, before `then`: the peer's own thread has put it there, so who hears of it
/// by any message sees it. **Who copies.** The kernel, once out of the memory of the one
/// side and once into the memory of the other; but for the begins of some payloads, at
/// most 4 KiB, that come with the frame before.
///
/// A peer writes here by this side's thread alone: once that has let go of it, nothing
/// it has sent is written any more.
result<std::unique_ptr<peer_transport>, setup_fault>
open(const segment_table& segments, const options& how, on_peer told);

} // namespace perigee::transport::tcp
