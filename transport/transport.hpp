/// \file
/// transport: carries out moves. What every back end promises.
#pragma once

#include "transport/move.hpp"

#include <array>
#include <cstddef>

namespace perigee::transport {

/// What a transport has done so far.
struct statistics {
  std::uint64_t moves_total = 0;                    ///< Told with bytes.
  std::uint64_t bytes_total = 0;                    ///< Of those.
  std::array<std::uint64_t, faults> faults_total{}; ///< Told or refused, by fault - 1.
  std::size_t outstanding = 0;

  std::uint64_t of(fault why) const {
    return faults_total[static_cast<std::size_t>(why) - 1];
  }
};

/// Moves bytes between registered segments.
///
/// **One outcome.** A move that submit() has refused leaves no trace. Any other is told
/// its outcome exactly once, by a call of its `then`: bytes or a fault, also when it
/// was aborted or the transport closed.
///
/// **Who owns the memory.** From submit() until `then` is called the move's source
/// blocks must not be written, except behind `wait_for`, and its destination blocks
/// neither read, except behind `opens`, nor written. Afterwards the transport never
/// touches them again: so an abort is acknowledged by that call, and by nothing sooner.
///
/// **When bytes are visible.** To who is told of success: all of them. To who finds
/// `opens` open for a layer: that layer's.
///
/// **Which thread.** `then` is called by one thread of the back end's own, never within
/// submit(), without a lock held; it may call anything but close(). A back end without
/// a thread says otherwise. It must be short: other moves wait.
class transport {
public:
  /// As close().
  virtual ~transport() = default;

  /// Begins `what`. Refuses with gone, out_of_range, busy or closed, all found before
  /// anything is touched; `then` is not called in that case. An `id` that is
  /// outstanding is a bug.
  ///
  /// A move of no blocks or no layers succeeds with 0 bytes, waits for nothing, and
  /// opens its gate.
  virtual result<void, fault> submit(move_id id, move what, on_done then) = 0;

  /// Ends the move with `why`, unless it has ended. Returns at once; see "Who owns the
  /// memory". One that is not outstanding is left alone.
  virtual void abort(move_id id, fault why = fault::aborted) = 0;

  /// Ends all moves with closed, and returns once all were told. Refuses all later
  /// ones.
  virtual void close() = 0;

  virtual statistics counted() const = 0;
};

} // namespace perigee::transport
