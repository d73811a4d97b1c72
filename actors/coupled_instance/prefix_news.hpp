/// \file
/// prefix_news: which keys can be found in an arena since somebody last asked, and
/// which no more.
#pragma once

#include "schemas/vocabulary.hpp"

#include <map>
#include <utility>

namespace perigee::coupled {

/// Two changes of one key that undo each other are no news. Pure.
class prefix_news {
public:
  void stored(const block_key& key) {
    change(key, true);
  }

  void evicted(const block_key& key) {
    change(key, false);
  }

  bool empty() const {
    return changed_.empty();
  }

  struct batch {
    block_chain stored, evicted; // each in the order of keys
  };

  batch take() {
    batch all;
    for (const auto& [key, is_here] : std::exchange(changed_, {}))
      (is_here ? all.stored : all.evicted).push_back(key);
    return all;
  }

private:
  void change(const block_key& key, bool is_here) {
    auto [at, is_new] = changed_.emplace(key, is_here);
    if (!is_new && at->second != is_here)
      changed_.erase(at);
  }

  std::map<block_key, bool> changed_; // ordered: one seed, one message
};

} // namespace perigee::coupled
