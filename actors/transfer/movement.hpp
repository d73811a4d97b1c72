/// \file
/// What a Movement says, in the words of transport/.
#pragma once

#include "actors/transfer/far_segment.hpp"
#include "schemas/movement.capnp.h"
#include "transport/gate_board.hpp"
#include "transport/move.hpp"

namespace perigee::transfer {

/// What to look things up in.
struct surroundings {
  const transport::segment_table& segments;
  const transport::gate_board& gates;
  const far_segments& far;
};

/// The move that `said` asks for, of all that is here now. Refuses with gone,
/// out_of_range (as many sources as targets, layers) and starved (the gate to wait for
/// is not on the board: its owner has ended). One whose gate to open is gone opens
/// none: nobody waits there.
///
/// Any numbers may be in `said`: what remains is for the transport to judge.
result<transport::move, transport::fault> to_move(schema::Movement::Reader said,
                                                  const surroundings& here);

/// What a move comes to, and between which hosts.
struct journey {
  std::uint64_t bytes = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// Of a move that to_move() gave. No bytes if a segment has gone meanwhile.
journey journey_of(const transport::move& what, const surroundings& here);

schema::MoveFault to_schema(transport::fault why);

} // namespace perigee::transfer
