/// \file
/// dram_arena: a node's memory for cached blocks, registered.
#pragma once

#include "transport/segment_table.hpp"

#include <functional>
#include <memory>

namespace perigee::shard {

struct arena_plan {
  transport::segment_id id{}; ///< Of no other segment, ever: see transport::segment_id.
  transport::geometry shape;
  std::uint32_t blocks = 0;

  /// Whether it has memory. Without, it is modelled: blocks that hold no bytes.
  bool is_backed = true;

  std::uint32_t host = 0; ///< See transport::segment.

  /// Where the memory is from: aligned to pages, or null if there is none. Empty: from
  /// the heap.
  std::function<std::shared_ptr<std::byte>(std::size_t bytes)> allocate{};
};

/// How many blocks of `shape` fit into so many bytes; as many as an arena may have at
/// most.
std::uint32_t blocks_in(std::uint64_t bytes, transport::geometry shape);

enum class arena_fault : std::uint8_t {
  no_memory = 1,  ///< The system gives none.
  not_registered, ///< The id is taken, the table full, or there are no blocks.
};

/// Blocks for one incarnation of a shard: at its end they leave the table, and their
/// memory lives until the last move from or to them has ended. Memory is taken from the
/// system page by page, as it is first written.
class dram_arena {
public:
  static result<std::shared_ptr<dram_arena>, arena_fault>
  make(std::shared_ptr<transport::segment_table> table, const arena_plan& plan);

  ~dram_arena();
  dram_arena(const dram_arena&) = delete;
  dram_arena& operator=(const dram_arena&) = delete;

  transport::segment_id id() const {
    return id_;
  }

  std::uint32_t blocks() const {
    return blocks_;
  }

private:
  dram_arena(std::shared_ptr<transport::segment_table> table, const arena_plan& plan)
    : table_(std::move(table)), id_(plan.id), blocks_(plan.blocks) {}

  std::shared_ptr<transport::segment_table> table_;
  transport::segment_id id_;
  std::uint32_t blocks_;
};

} // namespace perigee::shard
