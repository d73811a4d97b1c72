#include "actors/conductor/holder_set.hpp"

#include <algorithm>
#include <utility>

namespace perigee::conductor {

bool holder_set::add(const holder& one) {
  if (!many_) {
    if (!has_one_ || one_.who() == one.who()) {
      one_ = one;
      return !std::exchange(has_one_, true);
    }
    many_ = std::make_unique<std::vector<holder>>(1, one_);
    has_one_ = false;
  }
  auto at = std::lower_bound(
    many_->begin(), many_->end(), one.who(),
    [](const holder& other, tenure_id id) { return other.who() < id; });
  if (at != many_->end() && at->who() == one.who()) {
    *at = one;
    return false;
  }
  many_->insert(at, one);
  return true;
}

} // namespace perigee::conductor
