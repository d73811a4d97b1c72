/// \file
/// peer_move: one move between processes, as far as it has come.
#pragma once

#include "transport/move_run.hpp"

#include <map>
#include <optional>

namespace perigee::transport::streams {

/// What one request moves: at most one layer, where a gate is involved.
struct piece {
  std::vector<slice> slices;
  std::uint64_t bytes = 0;
  std::uint32_t layer = 0;
};

/// Cuts a move that fits into pieces, of which many may be under way at once, and opens
/// its gate for what has arrived.
class peer_move {
public:
  peer_move(move what, geometry shape);

  enum class state : std::uint8_t {
    ready,   ///< There is a next piece.
    waiting, ///< For the gate.
    starved, ///< It will not open.
    at_end,  ///< All pieces have been taken.
  };

  state look() const;

  /// The next piece, of at most so many bytes and slices. Only if ready.
  piece next(std::uint64_t bytes_max, std::size_t slices_max);

  /// `what` has arrived. Pieces arrive in any order.
  void landed(const piece& what);

  /// `what` will not arrive. No further layer opens.
  void missed(const piece& what);

  bool is_under_way() const {
    return !under_way_.empty();
  }

  /// What this came to. Of a fault, those who wait for `opens` hear as well.
  outcome end(std::optional<fault> why);

  const move& what() const {
    return *what_;
  }

private:
  void leave(const piece& what);
  void open();

  std::unique_ptr<const move> what_; // the walk points into it
  slice_walk walk_;
  std::map<std::uint32_t, std::size_t> under_way_; // pieces, by layer
  std::uint64_t bytes_ = 0;
  bool has_missed_ = false;
};

} // namespace perigee::transport::streams
