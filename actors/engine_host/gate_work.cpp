#include "actors/engine_host/gate_work.hpp"

namespace perigee::engine_host {

gate_work::gate_work(const transport::gate_board& board, schema::Forward::Reader wish) {
  for (auto work : wish.getWork()) {
    if (work.getAwaitGate() != 0) {
      auto found = board.find(transport::gate_id{work.getAwaitGate()});
      if (found)
        awaited_.push_back(std::move(found));
      else
        complete_ = false;
    }
    if (work.getOpenGate() != 0) // without it, nobody waits there any more
      if (auto found = board.find(transport::gate_id{work.getOpenGate()}))
        opened_.push_back(std::move(found));
  }
}

void gate_work::open_to(std::uint32_t level) const {
  for (const auto& gate : opened_)
    gate->open_to(level);
}

void gate_work::fail() const {
  for (const auto& gate : opened_)
    gate->fail();
}

} // namespace perigee::engine_host
