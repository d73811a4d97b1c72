#include "actors/transfer/movement.hpp"

namespace perigee::transfer {
namespace {

using transport::fault;

transport::priority to_priority(schema::Priority said) {
  switch (said) {
    case schema::Priority::FIRST_TOKEN: return transport::priority::urgent;
    case schema::Priority::NEXT_TOKEN: return transport::priority::normal;
    case schema::Priority::BACKGROUND: return transport::priority::idle;
  }
  return transport::priority::idle;
}

std::optional<transport::geometry> shape_of(transport::segment_id which,
                                            const surroundings& here) {
  if (auto near = here.segments.find(which))
    return near->shape;
  if (auto far = here.far.find(which); far != here.far.end())
    return far->second.shape;
  return std::nullopt;
}

std::vector<transport::block_pair> pairs_of(schema::Movement::Reader said) {
  auto sources = said.getSources(), targets = said.getTargets();
  std::vector<transport::block_pair> pairs;
  pairs.reserve(sources.size());
  for (unsigned i = 0; i < sources.size(); ++i)
    pairs.push_back({sources[i], targets[i]});
  return pairs;
}

} // namespace

result<transport::move, fault> to_move(schema::Movement::Reader said,
                                       const surroundings& here) {
  transport::move what;
  what.from = transport::segment_id{said.getFrom()};
  what.to = transport::segment_id{said.getTo()};
  auto from = shape_of(what.from, here);
  if (!from || !shape_of(what.to, here))
    return failure(fault::gone);
  auto layers = from->layers;
  if (said.getSources().size() != said.getTargets().size()
      || said.getLayerFirst() > layers)
    return failure(fault::out_of_range);
  what.layers
    = {said.getLayerFirst(),
       said.getLayers() != 0 ? said.getLayers() : layers - said.getLayerFirst()};
  if (said.getAwaitGate() != 0) {
    what.wait_for = here.gates.find(transport::gate_id{said.getAwaitGate()});
    if (!what.wait_for)
      return failure(fault::starved);
  }
  if (said.getOpenGate() != 0)
    what.opens = here.gates.find(transport::gate_id{said.getOpenGate()});
  what.pairs = pairs_of(said);
  what.urgency = to_priority(said.getPriority());
  return what;
}

journey journey_of(const transport::move& what, const surroundings& here) {
  auto from = here.segments.find(what.from), to = here.segments.find(what.to);
  if (!from || !to)
    return {};
  return {what.pairs.size() * what.layers.count * from->shape.layer_bytes, from->host,
          to->host};
}

schema::MoveFault to_schema(fault why) {
  switch (why) {
    case fault::gone: return schema::MoveFault::GONE;
    case fault::out_of_range: return schema::MoveFault::OUT_OF_RANGE;
    case fault::timed_out: return schema::MoveFault::TIMED_OUT;
    case fault::aborted: return schema::MoveFault::ABORTED;
    case fault::starved: return schema::MoveFault::STARVED;
    case fault::busy: return schema::MoveFault::BUSY;
    case fault::refused: return schema::MoveFault::GONE;
    case fault::closed:
    case fault::peer_lost: return schema::MoveFault::BROKEN;
  }
  return schema::MoveFault::BROKEN;
}

} // namespace perigee::transfer
