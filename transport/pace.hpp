/// \file
/// pace: when the next piece may go, where there is a most of bytes a second.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace perigee::transport {

/// The most that is to be moved to and from a peer, in bytes a second. 0: no limit.
struct rates {
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  bool operator==(const rates&) const = default;
};

/// Pure: it is told the time. A piece goes as a whole, and those behind it wait for as
/// long as it ought to take.
class pace {
public:
  using moment = std::chrono::steady_clock::time_point;

  /// What may be made up for: timers are late by as much.
  static constexpr std::chrono::milliseconds slack{4};

  explicit pace(std::uint64_t bytes_per_s = 0) : bytes_per_s_(bytes_per_s) {}

  bool is_free(moment now) const {
    return bytes_per_s_ == 0 || free_at_ <= now;
  }

  /// When it is, unless it is now.
  moment free_at() const {
    return free_at_;
  }

  void took(std::uint64_t bytes, moment now) {
    if (bytes_per_s_ == 0)
      return;
    auto lasts = std::chrono::duration<double>(static_cast<double>(bytes)
                                               / static_cast<double>(bytes_per_s_));
    free_at_ = std::max(free_at_, now - slack)
               + std::chrono::duration_cast<std::chrono::nanoseconds>(
                 std::min(lasts, longest));
  }

  /// Of at most `most`, what one piece should have, so that a more urgent one does not
  /// wait for long behind it.
  std::uint64_t piece_bytes(std::uint64_t most) const {
    constexpr std::uint64_t least = 4096, pieces_per_s = 100;
    if (bytes_per_s_ == 0)
      return most;
    return std::min(most, std::max(bytes_per_s_ / pieces_per_s, least));
  }

private:
  static constexpr std::chrono::duration<double> longest{std::chrono::hours{1}};

  std::uint64_t bytes_per_s_;
  moment free_at_{};
};

} // namespace perigee::transport
