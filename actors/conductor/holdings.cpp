#include "actors/conductor/holdings.hpp"

namespace perigee::conductor {
namespace {

/// Of the index, at each news.
constexpr std::size_t buckets_tidied = 64;

} // namespace

void holdings::seat(node_index shard, moment now) {
  lose(shard);
  feeds_.emplace(shard, shard_feed{now, patience_});
}

std::size_t holdings::lose(node_index shard) {
  feeds_.erase(shard);
  return index_.forget(shard);
}

holdings::outcome holdings::stored(node_index shard, std::uint64_t number, tier where,
                                   std::span<const block_key> keys, moment now) {
  auto what = judge(shard, number, now);
  return {what == verdict::recount,
          what == verdict::apply ? store(shard, where, keys) : 0};
}

holdings::outcome holdings::evicted(node_index shard, std::uint64_t number,
                                    std::span<const block_key> keys, moment now) {
  auto what = judge(shard, number, now);
  if (what == verdict::apply)
    index_.evict(shard, keys);
  return {what == verdict::recount, 0};
}

holdings::outcome holdings::recounted(node_index shard, const part& which, tier where,
                                      std::span<const block_key> keys, moment now) {
  auto feed = feeds_.find(shard);
  if (feed == feeds_.end())
    return {};
  switch (feed->second.on_recount(which.number, which.place, which.last, now)) {
    case verdict::ignore: break;
    case verdict::recount: return {true, 0};
    case verdict::replace: index_.forget(shard); [[fallthrough]];
    case verdict::apply: return {false, store(shard, where, keys)};
  }
  return {};
}

bool holdings::asks_again(node_index shard, moment now) {
  auto feed = feeds_.find(shard);
  return feed != feeds_.end() && feed->second.on_late(now) == verdict::recount;
}

bool holdings::awaits_recount(node_index shard) const {
  auto feed = feeds_.find(shard);
  return feed != feeds_.end() && !feed->second.is_complete();
}

verdict holdings::judge(node_index shard, std::uint64_t number, moment now) {
  index_.tidy(buckets_tidied);
  auto feed = feeds_.find(shard);
  return feed == feeds_.end() ? verdict::ignore : feed->second.on_news(number, now);
}

/// Returns how many blocks there was no room for.
std::size_t holdings::store(node_index shard, tier where,
                            std::span<const block_key> keys) {
  return keys.size() - index_.store(shard, where, keys);
}

} // namespace perigee::conductor
