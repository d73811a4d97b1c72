/// \file
/// block_line: who waits for blocks of an arena, and whose turn it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace perigee {

/// Those who wait until as many blocks are free as they need. Who came first has the
/// first turn; a smaller one may go before it, but only so often. Pure. Bounded.
class block_line {
public:
  explicit block_line(std::size_t length_max) : length_max_(length_max) {}

  /// False if the line is full.
  [[nodiscard]] bool join(std::uint64_t who, std::size_t blocks) {
    if (line_.size() >= length_max_)
      return false;
    line_.push_back({who, blocks});
    return true;
  }

  /// False if `who` isn't in it.
  bool leave(std::uint64_t who) {
    return std::erase_if(line_, [=](const auto& one) { return one.who == who; }) > 0;
  }

  /// Whose turn it is with `free` blocks; he has left the line. Nothing if nobody's.
  std::optional<std::uint64_t> next(std::size_t free) {
    for (auto one = line_.begin(); one != line_.end(); ++one) {
      if (one->blocks <= free) {
        if (one != line_.begin())
          ++line_.front().overtaken;
        auto who = one->who;
        line_.erase(one);
        return who;
      }
      if (line_.front().overtaken >= overtakers_max)
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::size_t size() const {
    return line_.size();
  }

private:
  // Small ones fill what a large one leaves free while it waits; yet it must not wait
  // for ever.
  static constexpr std::uint32_t overtakers_max = 16;

  struct waiter {
    std::uint64_t who;
    std::size_t blocks;
    std::uint32_t overtaken = 0;
  };

  std::size_t length_max_;
  std::deque<waiter> line_;
};

} // namespace perigee
