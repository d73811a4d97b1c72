/// \file
/// lanes: whose turn it is, by priority, so that nobody waits for ever.
#pragma once

#include "transport/move.hpp"

#include <array>
#include <deque>
#include <optional>

namespace perigee::transport {

/// Queues by priority. The most urgent goes first; but a lane that was passed over
/// `patience` times in a row goes next.
template <class T>
class lanes {
public:
  static constexpr unsigned patience = 8;

  void push(priority urgency, T item) {
    lane_of(urgency).items.push_back(std::move(item));
  }

  std::optional<T> pop() {
    lane* next = nullptr;
    for (auto& one : lanes_)
      if (!one.items.empty() && (!next || one.passed_over >= patience))
        next = &one;
    if (!next)
      return std::nullopt;
    for (auto& one : lanes_)
      one.passed_over = &one == next || one.items.empty() ? 0 : one.passed_over + 1;
    std::optional<T> item{std::move(next->items.front())};
    next->items.pop_front();
    return item;
  }

  bool empty() const {
    for (const auto& one : lanes_)
      if (!one.items.empty())
        return false;
    return true;
  }

private:
  struct lane {
    std::deque<T> items;
    unsigned passed_over = 0;
  };

  lane& lane_of(priority urgency) {
    return lanes_[static_cast<std::size_t>(urgency)];
  }

  std::array<lane, priorities> lanes_;
};

} // namespace perigee::transport
