/// \file
/// A shard's answers, and what it is asked with, as words.
#pragma once

#include "actors/cache_shard/block_ledger.hpp"
#include "schemas/cache.capnp.h"

#include <chrono>
#include <cstdint>

namespace perigee::shard {

inline block_key to_key(schema::BlockKey::Reader from) {
  return {from.getHigh(), from.getLow()};
}

block_chain to_keys(capnp::List<schema::BlockKey>::Reader from);

/// Where what is lent or granted is, and how it is called.
struct deed {
  std::uint64_t id;
  std::uint64_t life;
  std::uint64_t segment;
  std::chrono::nanoseconds expires_in;
};

void set_lease(schema::Pinned::Builder said, const deed& of,
               const std::vector<block_number>& blocks, schema::Tier tier);

void set_granted(schema::Reserved::Builder said, const deed& of,
                 const std::vector<block_ledger::reservation::item>& items);

} // namespace perigee::shard
