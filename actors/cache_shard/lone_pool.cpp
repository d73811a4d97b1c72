#include "actors/cache_shard/lone_pool.hpp"

#include "schemas/assert.hpp"

namespace perigee::shard {

std::size_t lone_pool::serve(std::span<const block_key> chain) {
  auto found = ledger_.lend(chain);
  auto hits = found ? found->blocks.size() : 0;
  const owner_id writer{++served_};
  auto missing = chain.subspan(hits);
  auto parent = hits > 0 ? chain[hits - 1] : block_key{};
  auto got
    = ledger_.reserve(writer, {parent, static_cast<std::uint32_t>(hits), missing});
  for (auto item : got.items) {
    auto sealed = ledger_.seal(item.block, writer);
    PERIGEE_ASSERT(sealed, "a block that was reserved for this chain");
  }
  if (found)
    ledger_.release(found->id);
  return hits;
}

} // namespace perigee::shard
