#include "actors/cache_shard/dram_arena.hpp"

#include "schemas/vocabulary.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace perigee::shard {
namespace {

constexpr std::align_val_t page{4096};

std::shared_ptr<std::byte> take_memory(std::size_t bytes) {
  auto* begin = static_cast<std::byte*>(::operator new(bytes, page, std::nothrow));
  if (!begin)
    return nullptr;
  return {begin, [](std::byte* all) { ::operator delete(all, page); }};
}

} // namespace

std::uint32_t blocks_in(std::uint64_t bytes, transport::geometry shape) {
  if (shape.layers == 0 || shape.layer_bytes == 0
      || shape.layer_bytes > bytes / shape.layers)
    return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
    bytes / shape.block_bytes(), std::numeric_limits<std::uint32_t>::max()));
}

result<std::shared_ptr<dram_arena>, arena_fault>
dram_arena::make(std::shared_ptr<transport::segment_table> table,
                 const arena_plan& plan) {
  transport::segment whole{plan.id,     nullptr, plan.shape,
                           plan.blocks, nullptr, plan.host};
  if (!has_shape(whole))
    return failure(arena_fault::not_registered);
  if (plan.is_backed) {
    auto bytes = plan.blocks * plan.shape.block_bytes();
    auto memory = plan.allocate ? plan.allocate(bytes) : take_memory(bytes);
    if (!memory)
      return failure(arena_fault::no_memory);
    whole.base = memory.get();
    whole.keep_alive = std::move(memory);
  }
  if (!table->add(std::move(whole)))
    return failure(arena_fault::not_registered);
  return std::shared_ptr<dram_arena>{new dram_arena{std::move(table), plan}};
}

dram_arena::~dram_arena() {
  table_->remove(id_);
}

} // namespace perigee::shard
