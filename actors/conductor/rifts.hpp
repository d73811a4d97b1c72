/// \file
/// rifts: which nodes do not reach each other, whether or not the conductor reaches them.
#pragma once

#include "schemas/vocabulary.hpp"

#include <set>
#include <utility>

namespace perigee::conductor {

/// As either of the two says. Pure.
class rifts {
public:
  void set(node_index who, node_index other, bool apart) {
    if (apart)
      said_.emplace(who, other);
    else
      said_.erase({who, other});
  }

  bool is_between(node_index a, node_index b) const {
    return !said_.empty() && (said_.contains({a, b}) || said_.contains({b, a}));
  }

  bool empty() const {
    return said_.empty();
  }

private:
  std::set<std::pair<node_index, node_index>> said_; // who says it, of whom
};

inline const rifts no_rifts;

} // namespace perigee::conductor
