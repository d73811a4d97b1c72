/// \file
/// What processes say to each other over a connection, besides the bytes they move.
///
/// The connector begins with a hello, which the acceptor answers with a welcome. From
/// then on both send frames, which are requests and answers. All numbers are
/// little-endian. Whatever is announced has a limit; what exceeds it, or makes no
/// sense, breaks the protocol.
#pragma once

#include "transport/move_run.hpp"
#include "transport/peer.hpp"

#include <span>

namespace perigee::transport::streams {

inline constexpr std::uint16_t protocol_version = 1;
inline constexpr std::size_t links_max = 16;

/// | offset | bytes | what                                            |
/// |--------|-------|-------------------------------------------------|
/// | 0      | 8     | "perigee>"                                      |
/// | 8      | 2     | protocol version                                |
/// | 10     | 1     | which of the peer's connections, from 0         |
/// | 11     | 1     | how many it has, 1 to links_max                 |
/// | 12     | 4     | zero                                            |
/// | 16     | 32    | ticket                                          |
struct hello {
  static constexpr std::size_t bytes = 48;

  ticket shown{};
  std::uint8_t index = 0;
  std::uint8_t count = 1;
};

std::array<std::byte, hello::bytes> write(const hello& what);

/// Nothing if that is none, or one of another version.
std::optional<hello> read_hello(std::span<const std::byte, hello::bytes> from);

/// "perigee<", the protocol version (2 bytes), 1 if the ticket is good (1), zero (5).
inline constexpr std::size_t welcome_bytes = 16;
std::array<std::byte, welcome_bytes> write_welcome(bool is_welcome);

/// Nothing if that is none. One of another version is no welcome.
std::optional<bool> read_welcome(std::span<const std::byte, welcome_bytes> from);

enum class frame_kind : std::uint8_t {
  put = 1, ///< Request: write the bytes that follow to `to`. Answer: done or refused.
  get,     ///< Request: read from `from`. Answer: data or refused.
  copy,    ///< Request: copy from `from`, which was shown, to `to`. As put.
  ask,     ///< Request: show me `from`. Answer: show or refused.
  show,    ///< `from`, in the file that comes along; unasked if the number is 0.
  data,    ///< Answer: the bytes follow, as many as were asked for.
  done,    ///< Answer: it is carried out, and can be seen by the memory's owner.
  refused, ///< Answer: nothing was touched.
};

/// Requests that may be unanswered on a connection, in each direction.
inline constexpr std::size_t requests_max = 64;
inline constexpr std::uint64_t request_bytes_max = std::uint64_t{4} << 20;
inline constexpr std::size_t slices_max = 256;

/// | offset | bytes | what                                                |
/// |--------|-------|-----------------------------------------------------|
/// | 0      | 1     | kind                                                |
/// | 1      | 1     | zero                                                |
/// | 2      | 2     | slices; 0 where the kind has none, 1 in show        |
/// | 4      | 4     | zero                                                |
/// | 8      | 8     | number of the request, chosen by who asks           |
/// | 16     | 8     | segment `from`                                      |
/// | 24     | 8     | segment `to`                                        |
/// | 32     | 24 n  | slices: offset in `from`, offset in `to`, bytes     |
///
/// In show, the slice says where in the file the segment begins (`from`), and how long
/// it is. The bytes of a put or a data follow, slice by slice.
struct frame {
  frame_kind kind{};
  std::uint64_t number = 0;
  segment_id from{};
  segment_id to{};
  std::vector<slice> slices{};

  bool operator==(const frame&) const = default;

  std::uint64_t slice_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& one : slices)
      sum += one.bytes;
    return sum;
  }
};

std::vector<std::byte> write(const frame& what);

/// Puts frames together from bytes as they come.
///
/// What it gives has a known kind, at most slices_max slices, none empty, none whose end
/// overflows, and of put, get and copy at most request_bytes_max bytes.
class frame_parser {
public:
  /// Takes bytes from the front of `in`, until a frame is whole or none are left.
  /// Nothing if they don't suffice. `unsound` if no frame begins so; then no more may
  /// be given.
  result<std::optional<frame>, loss> take(std::span<const std::byte>& in);

private:
  bool fill_to(std::size_t bytes, std::span<const std::byte>& in);

  std::vector<std::byte> begun_;
};

} // namespace perigee::transport::streams
