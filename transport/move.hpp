/// \file
/// move: blocks of KV that go from one segment to another.
#pragma once

#include "schemas/result.hpp"
#include "transport/gate.hpp"
#include "transport/segment_table.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace perigee::transport {

struct layer_range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  std::uint32_t end() const {
    return first + count;
  }
};

struct block_pair {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

enum class priority : std::uint8_t {
  urgent, ///< A client waits for the next token.
  normal,
  idle, ///< Nobody waits: replicas, write-back.
};
inline constexpr std::size_t priorities = 3;

/// What is moved, when, and who waits. Both segments have the same geometry.
struct move {
  segment_id from{};
  segment_id to{};
  layer_range layers{};
  std::vector<block_pair> pairs{}; ///< No destination twice, nor one that is a source.

  /// Layer l is read only once this is open for l. Null: everything may be read now.
  gate_ptr wait_for{};

  /// Opened for layer l once l has arrived, in order; fails if the move does. Null:
  /// nobody waits for single layers.
  gate_ptr opens{};

  priority urgency = priority::normal;

  /// From submit() on; then the move ends with timed_out.
  std::chrono::nanoseconds limit = std::chrono::seconds{30};
};

/// Why a move did not, or not wholly, take place.
enum class fault : std::uint8_t {
  gone = 1,     ///< A segment is not, or no longer, registered.
  out_of_range, ///< A block or layer that a segment has not, or unequal geometries.
  timed_out,    ///< Its limit is over.
  aborted,      ///< abort() was called.
  starved,      ///< The gate that it waited for has failed.
  closed,       ///< The transport has been closed.
  busy,         ///< As many moves are outstanding as may be: come again later.
  peer_lost,    ///< The process at the other end is not, or no longer, there.
  refused,      ///< The process at the other end has said no.
};
inline constexpr std::size_t faults = 9;

/// Bytes moved, or why not. In the latter case any part of the destination may have
/// been written.
using outcome = result<std::uint64_t, fault>;

/// Names a move among the outstanding ones of a transport. The submitter chooses.
enum class move_id : std::uint64_t {};

using on_done = std::function<void(move_id, const outcome&)>;

} // namespace perigee::transport
