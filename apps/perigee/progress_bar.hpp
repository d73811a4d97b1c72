/// \file
/// progress_bar: how far a long command is, for who watches.
#pragma once

#include <chrono>
#include <string>

namespace perigee::app {

/// A line on stderr that is written over, a few times a second, and is gone at the end.
/// Nothing if stderr is no terminal.
class progress_bar {
public:
  progress_bar();
  ~progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// Whether it is time to show() again.
  bool is_due();

  /// `share` of all is done, from 0 to 1; `details` say more.
  void show(double share, const std::string& details);

private:
  const bool watched_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

} // namespace perigee::app
