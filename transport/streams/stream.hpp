/// \file
/// stream: bytes in order to and from another process, as far as they go at once.
#pragma once

#include "transport/peer.hpp"
#include "transport/streams/file.hpp"

#include <sys/uio.h>

#include <span>

namespace perigee::transport::streams {

/// How far a call has come.
struct progress {
  std::size_t bytes = 0;
  bool has_ended = false; ///< The other side is gone, or the connection is broken.
};

/// A connection whose calls never wait. None is used again after has_ended.
class stream {
public:
  virtual ~stream() = default;

  virtual int fd() const = 0;

  /// Readable once the process at the other end has ended; negative if that is unknown.
  virtual int life() const {
    return -1;
  }

  /// Makes what follows secret, where that is asked for. True once that is done.
  virtual result<bool, loss> shake_hands() {
    return true;
  }

  /// Sends from the front of `parts`; 0 bytes if none fit now. `more_follows` is a
  /// hint. `passed`, unless it is negative, is a file to go along with the first byte.
  virtual progress send(std::span<const iovec> parts, bool more_follows, int passed)
    = 0;

  /// The payload of requests of so many bytes goes by send_pinned().
  virtual std::size_t pinned_bytes_min() const {
    return static_cast<std::size_t>(-1);
  }

  /// As send(), but what has been taken may be read until the other side has it all.
  virtual progress send_pinned(std::span<const iovec> parts) {
    return send(parts, false, -1);
  }

  /// Fills `parts` from the front; 0 bytes if there are none now.
  virtual progress receive(std::span<const iovec> parts) = 0;

  /// Whether there is more to receive() though the file says nothing.
  virtual bool has_more() const {
    return false;
  }

  /// Whether the last call could not go on before the file takes bytes.
  virtual bool awaits_room() const {
    return false;
  }

  /// The file has reported an error: false if it is one.
  virtual bool survives_error() {
    return false;
  }

  /// A file that came along, oldest first.
  virtual std::optional<file> take_file() {
    return std::nullopt;
  }

  /// From now on the other side gets nothing, not even what was taken for sending.
  virtual void cut() = 0;
};

} // namespace perigee::transport::streams
