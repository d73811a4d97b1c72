#include "actors/cluster/engine_seat.hpp"

namespace perigee::cluster {

engine_seat::engine_seat(transfer::shared_memory memory, transport::segment_id id,
                         node_index host, std::shared_ptr<engine::engine> runs)
  : memory_(std::move(memory)), id_(id), host_(host), runs_(std::move(runs)) {}

engine_seat::~engine_seat() {
  memory_.segments->remove(id_);
}

bool engine_seat::register_arena() const {
  auto arena = runs_->arena();
  transport::geometry shape{arena.layout.layer_bytes(), arena.layout.layers};
  return memory_.segments
    ->add(
      {id_, arena.base, shape, arena.blocks, runs_, static_cast<std::uint32_t>(host_)})
    .has_value();
}

transport::segment_id segment_names::next() const {
  auto full
    = rt::full_name(node_, life_, "segment", {static_cast<std::uint32_t>(++*made_), 1});
  return transport::segment_id{static_cast<std::uint64_t>(rt::tag_of(full))};
}

} // namespace perigee::cluster
