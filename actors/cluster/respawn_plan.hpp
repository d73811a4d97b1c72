/// \file
/// respawn_plan: when what died is started again, and when no more.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace perigee::cluster {

struct respawn_limits {
  /// Before the second attempt in a row; doubled for each one after. The first is at
  /// once.
  std::chrono::nanoseconds wait_first = std::chrono::milliseconds{100};
  std::chrono::nanoseconds wait_max = std::chrono::seconds{10};

  /// Who lived as long as this did not die of being started.
  std::chrono::nanoseconds settled_after = std::chrono::seconds{30};

  /// Attempts in a row.
  std::uint64_t attempts_max = 8;
};

/// Of one unit. Pure: is told the time.
class respawn_plan {
public:
  explicit respawn_plan(respawn_limits how) : how_(how) {}

  void started(std::chrono::nanoseconds now) {
    started_ = now;
  }

  /// How long to wait before it is started again; nothing if it died young as often in
  /// a row as is allowed.
  std::optional<std::chrono::nanoseconds> ended(std::chrono::nanoseconds now);

private:
  respawn_limits how_;
  std::chrono::nanoseconds started_{};
  std::uint64_t attempts_ = 0;
};

} // namespace perigee::cluster
