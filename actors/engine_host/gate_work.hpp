/// \file
/// gate_work: the gates of one Forward, which its layers wait for and open.
#pragma once

#include "actors/runtime/msg.hpp"
#include "schemas/forward.capnp.h"
#include "transport/gate_board.hpp"

#include <chrono>
#include <vector>

namespace perigee::engine_host {

/// Not thread-safe, though the gates are.
class gate_work {
public:
  gate_work(const transport::gate_board& board, schema::Forward::Reader wish);

  /// False if a gate that is to be waited for isn't there any more.
  bool complete() const {
    return complete_;
  }

  const std::vector<transport::gate_ptr>& awaited() const {
    return awaited_;
  }

  /// Layers [0, level) are computed.
  void open_to(std::uint32_t level) const;

  /// No further layer will be.
  void fail() const;

private:
  std::vector<transport::gate_ptr> awaited_;
  std::vector<transport::gate_ptr> opened_;
  bool complete_ = true;
};

} // namespace perigee::engine_host
