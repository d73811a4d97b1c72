/// \file
/// shm: moves between processes of one host, through memory that both see.
#pragma once

#include "transport/shm/memory.hpp"
#include "transport/streams/stream_transport.hpp"

#include <string>

namespace perigee::transport::shm {

struct options {
  /// Where to listen: the path of a socket that is made, and goes with the transport.
  /// None: a name that only who is told it can guess, outside of any file system.
  std::string path{};

  /// More is asked for at once than over networks: nothing is on its way but words. And
  /// twice what is answered at once, so that the copying never waits for them.
  streams::stream_limits limits{.session
                                = {.window_bytes = 2 * streams::answered_bytes}};
};

/// Why there is no transport: a sentence for who has set it up.
struct setup_fault {
  std::string what;
};

/// Begins to listen. Refuses if the path is too long, or taken, or the system has no
/// descriptors left.
///
/// `memory` is where segments come from that peers write from, and read. One of other
/// memory is refused: by describe(), and by submit() where it would be written from.
///
/// **Who copies.** The owner of the destination, once: a read is copied by this side's
/// thread, which has mapped the peer's memory, and a write by the peer's. Nobody can
/// write to memory of another process. **When bytes are visible.** To who hears of the
/// move, by any message, at either end.
///
/// **When a peer dies** it is noticed by its process as well as by its connection, which
/// others may have inherited. What it had shown can be read until it is forgotten.
result<std::unique_ptr<peer_transport>, setup_fault>
open(const segment_table& segments, std::shared_ptr<const memory> from,
     const options& how, on_peer told);

} // namespace perigee::transport::shm
