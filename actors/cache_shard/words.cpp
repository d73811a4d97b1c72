#include "actors/cache_shard/words.hpp"

#include "actors/cache_shard/cache_shard.hpp"

namespace perigee::shard {
namespace {

template <class Builder>
void set_deed(Builder to, const deed& of) {
  to.setId(of.id);
  to.setLife(of.life);
  to.setSegment(of.segment);
  to.setExpiresInNs(static_cast<std::uint64_t>(of.expires_in.count()));
}

} // namespace

block_chain to_keys(capnp::List<schema::BlockKey>::Reader from) {
  block_chain keys;
  keys.reserve(from.size());
  for (auto key : from)
    keys.push_back(to_key(key));
  return keys;
}

void set_lease(schema::Pinned::Builder said, const deed& of,
               const std::vector<block_number>& blocks, schema::Tier tier) {
  auto lease = said.initLease();
  set_deed(lease, of);
  lease.setBlocks({blocks.data(), blocks.size()});
  lease.setTier(tier);
}

void set_granted(schema::Reserved::Builder said, const deed& of,
                 const std::vector<block_ledger::reservation::item>& items) {
  auto granted = said.initGranted();
  set_deed(granted, of);
  auto list = granted.initItems(static_cast<unsigned>(items.size()));
  for (unsigned i = 0; i < items.size(); ++i) {
    list[i].setIndex(items[i].index);
    list[i].setBlock(items[i].block);
  }
}

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  return "eviction=" + how.eviction + text(" lease_limit_ms", how.lease_limit.count())
         + text(" grant_limit_ms", how.grant_limit.count())
         + text(" transfer_limit_ms", how.transfer_limit.count())
         + text(" quiesce_limit_ms", how.quiesce_limit.count())
         + text(" leases_max", how.leases_max) + text(" grants_max", how.grants_max)
         + text(" climb_limit_ms", how.climb_limit.count())
         + text(" climbs_max", how.climbs_max) + text(" spare_blocks", how.spare_blocks)
         + text(" conductor_node", static_cast<unsigned>(how.conductor.node))
         + text(" news_every_ms", how.news_every.count());
}

} // namespace perigee::shard
