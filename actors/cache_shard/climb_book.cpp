#include "actors/cache_shard/climb_book.hpp"

#include "actors/cache_shard/words.hpp"
#include "schemas/convert.hpp"

namespace perigee::shard {

bool climb_book::begin(ssd_tier& from, std::uint64_t mine, const Msg<schema::Pin>& wish,
                       const block_chain& chain,
                       const std::optional<block_ledger::lease>& found, nanoseconds now,
                       std::function<void()> ended) {
  auto here = found ? found->blocks.size() : 0;
  if (here == chain.size() || open_.size() >= most_)
    return false;
  if (!from.climb(to_key(wish->getChain().getRoot()), chain, here, now,
                  std::move(ended)))
    return false;
  open_.emplace(mine, climb{wish, found});
  return true;
}

std::chrono::nanoseconds climb_book::limit_of(const Msg<schema::Pin>& wish) const {
  auto remaining_ns = wish->getRemainingNs();
  if (remaining_ns == 0
      || remaining_ns / 16 >= static_cast<std::uint64_t>(limit_.count()) / 15)
    return limit_;
  return nanoseconds{static_cast<std::int64_t>(remaining_ns / 16 * 15)};
}

std::optional<climb_book::climb> climb_book::take(std::uint64_t which) {
  auto one = open_.extract(which);
  if (one.empty())
    return std::nullopt;
  return std::move(one.mapped());
}

std::optional<block_ledger::lease> climb_book::lend_all(const climb& one) {
  auto all = dram_.lend(to_chain(one.wish->getChain()));
  if (one.held)
    dram_.release(one.held->id);
  return all;
}

} // namespace perigee::shard
