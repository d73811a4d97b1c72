/// \file
/// lanes: whose turn it is, by priority, so that nobody waits for ever.
#pragma once

#include "transport/move.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

namespace perigee::transport {

/// Queues by priority. The most urgent goes first; but a lane that was passed over
/// `patience` times in a row goes next.
template <class T>
class lanes {
public:
  static constexpr unsigned patience = 8;
  static constexpr std::size_t looked_at = 32;

  void push(priority urgency, T item) {
    lane_of(urgency).items.push_back(std::move(item));
  }

  std::optional<T> pop() {
    return pop_if([](const T&) { return true; });
  }

  /// The next of those that `may` go now. Of each lane so many are looked at; and nobody
  /// was passed over for whom it was not time.
  template <class May>
  std::optional<T> pop_if(May may) {
    for (bool is_patient : {false, true})
      for (std::size_t i = 0; i < priorities; ++i) {
        auto& one = lanes_[is_patient ? i : priorities - 1 - i];
        if ((one.passed_over < patience) != is_patient)
          continue;
        for (std::size_t at = 0; at < std::min(one.items.size(), looked_at); ++at)
          if (may(std::as_const(one.items[at])))
            return take(one, at);
      }
    return std::nullopt;
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

  std::optional<T> take(lane& from, std::size_t at) {
    std::optional<T> item{std::move(from.items[at])};
    from.items.erase(from.items.begin() + static_cast<std::ptrdiff_t>(at));
    for (auto& one : lanes_)
      one.passed_over = &one == &from || one.items.empty() ? 0 : one.passed_over + 1;
    return item;
  }

  lane& lane_of(priority urgency) {
    return lanes_[static_cast<std::size_t>(urgency)];
  }

  std::array<lane, priorities> lanes_;
};

} // namespace perigee::transport
