/// \file
/// Between the shared nouns and their Cap'n Proto form.
#pragma once

#include "schemas/block.capnp.h"
#include "schemas/vocabulary.hpp"

#include <span>

namespace perigee {

inline block_chain to_chain(schema::BlockChain::Reader from) {
  block_chain chain;
  chain.reserve(from.getKeys().size());
  for (auto key : from.getKeys())
    chain.push_back({key.getHigh(), key.getLow()});
  return chain;
}

inline void set_chain(schema::BlockChain::Builder to,
                      std::span<const block_key> chain) {
  auto keys = to.initKeys(static_cast<unsigned>(chain.size()));
  for (unsigned i = 0; i < keys.size(); ++i) {
    keys[i].setHigh(chain[i].high);
    keys[i].setLow(chain[i].low);
  }
}

/// `Name` is a role's, such as `directory::pool_name`.
template <class Name>
Name to_name(schema::ActorName::Reader from) {
  return {node_index{from.getNode()}, from.getIndex()};
}

template <class Name>
void set_name(schema::ActorName::Builder to, const Name& name) {
  to.setNode(static_cast<std::uint32_t>(name.node));
  to.setIndex(name.index);
}

} // namespace perigee
