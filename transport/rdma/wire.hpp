/// \file
/// What two processes say to each other beside RDMA: over a TCP connection, the line.
///
/// Who connects says `hello`, who accepts `welcome`; then both know both's devices, and
/// so the paths between them: paths_between(). From then on both say the same things.
///
/// **A path's life** goes by generations, which both count alike. Each side makes a
/// queue pair and says `fresh`; having both, it connects and says `ready`; having heard
/// that, it may post. When either finds that the path does not work it destroys its
/// queue pair, so that nothing more can arrive through it, and says `ended`; the other
/// does the same. With both said the next generation begins.
///
/// **Keys** are asked for once by `want`, and then given anew for every generation of
/// every path, as `keys`; `denied` if the segment is none that may be reached.
/// `revoked`: it was, and no key for it is good any more.
///
/// Numbers are little-endian. A frame is four bytes of length, one of kind, and a body.
/// What does not fit exactly breaks the protocol.
#pragma once

#include "transport/peer.hpp"
#include "transport/rdma/queue_pair.hpp"

#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace perigee::transport::rdma {

inline constexpr std::size_t frame_bytes_max = 16'384;
inline constexpr std::size_t devices_max = 16;
inline constexpr std::size_t pieces_max = 2048;
static_assert(pieces_max * sizeof(std::uint32_t) + 64 <= frame_bytes_max,
              "the keys of a segment go into one frame");

namespace say {

struct hello {
  ticket shown;
  std::vector<port_address> ports;
};

struct welcome {
  std::vector<port_address> ports;
};

/// Which path, and which of its lives.
struct path_life {
  std::uint8_t path = 0;
  std::uint32_t generation = 0;
};

struct fresh {
  path_life of;
  queue_pair_address where;
};

struct ready {
  path_life of;
};

struct ended {
  path_life of;
  bool by_access = false; ///< Because a request was refused by memory there.
};

struct want {
  segment_id segment{};
};

struct keys {
  path_life of;
  segment_id segment{};
  std::uint8_t distance = 0; ///< Of the memory from the device: see nic_choice.hpp.
  std::uint64_t base = 0;
  std::uint64_t piece_bytes = 0;
  std::vector<std::uint32_t> pieces;
};

struct denied {
  segment_id segment{};
};

struct revoked {
  segment_id segment{};
};

} // namespace say

using message
  = std::variant<say::hello, say::welcome, say::fresh, say::ready, say::ended,
                 say::want, say::keys, say::denied, say::revoked>;

/// With its frame.
std::vector<std::byte> encode(const message& what);

/// What the first bytes of `from` are: nothing yet, a message and how many bytes it was
/// with its frame, or (false) no message of ours.
struct decoded {
  bool sound = true;
  std::optional<message> what{};
  std::size_t bytes = 0;
};
decoded decode(std::span<const std::byte> from);

/// Path i goes from device `first` of who connected to device `second` of who accepted.
/// The n-th devices of both belong together; who has fewer uses them again.
std::vector<std::pair<std::uint8_t, std::uint8_t>> paths_between(std::size_t connector,
                                                                 std::size_t acceptor);

} // namespace perigee::transport::rdma
