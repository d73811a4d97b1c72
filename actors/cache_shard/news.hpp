/// \file
/// news: which keys have come, moved and gone in a shard since it last said so.
#pragma once

#include "schemas/vocabulary.hpp"

#include <map>
#include <utility>

namespace perigee::shard {

/// Where a key's block is; of two places, the faster.
enum class place : std::uint8_t { gone, dram, ssd };

/// Changes of one key that come to nothing are no news. Pure.
class news {
public:
  void moved(const block_key& key, place from, place to) {
    auto [at, is_new] = changed_.emplace(key, change{from, to});
    at->second.to = to;
    if (at->second.from == to)
      changed_.erase(at);
  }

  bool empty() const {
    return changed_.empty();
  }

  struct batch {
    block_chain dram, ssd, evicted; // each in the order of keys
  };

  batch take() {
    batch all;
    for (const auto& [key, how] : std::exchange(changed_, {}))
      (how.to == place::dram  ? all.dram
       : how.to == place::ssd ? all.ssd
                              : all.evicted)
        .push_back(key);
    return all;
  }

private:
  struct change {
    place from, to;
  };

  std::map<block_key, change> changed_; // ordered: one seed, one message
};

} // namespace perigee::shard
