/// \file
/// untold: what an actor has yet to report.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace perigee {

/// Things that somebody shall be told, oldest first, in parts that fill a message at
/// most. Pure.
///
/// Whoever adds to it also sees to it that it is told, or forgotten, before long: it is
/// as long as what happened since.
template <class T>
class untold {
public:
  explicit untold(std::size_t part_max) : part_max_(part_max) {}

  void add(T one) {
    all_.push_back(std::move(one));
  }

  /// What is to be told next. Valid until anything changes.
  std::span<const T> part() const {
    return std::span{all_}.first(std::min(all_.size(), part_max_));
  }

  /// The part was told.
  void told() {
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(part().size()));
  }

  /// Nobody wants to know any more.
  void forget() {
    all_.clear();
  }

  bool empty() const {
    return all_.empty();
  }

private:
  std::size_t part_max_;
  std::vector<T> all_;
};

} // namespace perigee
