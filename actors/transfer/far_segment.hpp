/// \file
/// far_segment: memory of another process, as it was shown here.
#pragma once

#include "schemas/vocabulary.hpp"
#include "transport/peer.hpp"

#include <map>

namespace perigee::transfer {

struct far_segment {
  node_index node{};
  transport::peer_id peer{};
  std::size_t way = 0; ///< Which of paths::ways leads there.
  transport::geometry shape;
  std::uint32_t blocks = 0;
};

using far_segments = std::map<transport::segment_id, far_segment>;

} // namespace perigee::transfer
