/// \file
/// report_pace: when an actor reports how busy it is.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

namespace perigee {

/// On change, at most once every so often, never while nothing changes. Pure.
class report_pace {
public:
  using moment = std::chrono::nanoseconds;

  explicit report_pace(moment every) : every_(every) {}

  /// Something changed at `now`. Whether to report at once; if not, `tick_at()` says
  /// whether a timer is to be set.
  bool changed(moment now) {
    if (waits_)
      return false;
    if (!last_ || now - *last_ >= every_) {
      last_ = now;
      return true;
    }
    waits_ = true;
    tick_ = *last_ + every_;
    return false;
  }

  /// When the timer is due that is to be set now. Once.
  std::optional<moment> take_tick() {
    return std::exchange(tick_, std::nullopt);
  }

  /// The timer is here: report.
  void ticked(moment now) {
    waits_ = false;
    last_ = now;
  }

private:
  moment every_;
  std::optional<moment> last_;
  std::optional<moment> tick_;
  bool waits_ = false;
};

} // namespace perigee
