/// \file
/// engine_seat: an engine, its arena registered, for one incarnation of its owner.
#pragma once

#include "actors/runtime/world.hpp"
#include "actors/transfer/transfer.hpp"
#include "engine/engine.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace perigee::cluster {

/// Its arena leaves the table of segments when it ends.
class engine_seat {
public:
  engine_seat(transfer::shared_memory memory, transport::segment_id id, node_index host,
              std::shared_ptr<engine::engine> runs);
  ~engine_seat();

  engine_seat(const engine_seat&) = delete;
  engine_seat& operator=(const engine_seat&) = delete;

  /// False if it has no blocks, or too many have.
  bool register_arena() const;

  const std::shared_ptr<engine::engine>& runs() const {
    return runs_;
  }

  std::uint64_t segment() const {
    return static_cast<std::uint64_t>(id_);
  }

private:
  transfer::shared_memory memory_;
  transport::segment_id id_;
  node_index host_;
  std::shared_ptr<engine::engine> runs_;
};

/// Gives out names that no other segment of the cluster ever has.
class segment_names {
public:
  /// `made` counts those of this process.
  segment_names(const rt::world& in, std::shared_ptr<std::uint64_t> made)
    : node_(in.node), life_(in.life), made_(std::move(made)) {}

  transport::segment_id next() const;

private:
  std::string node_;
  std::uint64_t life_;
  std::shared_ptr<std::uint64_t> made_;
};

} // namespace perigee::cluster
