#include "apps/perigee/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace perigee::app {

progress_bar::progress_bar() : watched_(isatty(STDERR_FILENO) == 1) {}

progress_bar::~progress_bar() {
  if (shown_)
    std::fputs("\r\033[K", stderr);
}

bool progress_bar::is_due() {
  if (!watched_)
    return false;
  auto now = std::chrono::steady_clock::now();
  if (now < next_)
    return false;
  next_ = now + std::chrono::milliseconds{200};
  return true;
}

void progress_bar::show(double share, const std::string& details) {
  constexpr int width = 30;
  if (!watched_)
    return;
  shown_ = true;
  share = std::clamp(share, 0.0, 1.0);
  auto full = static_cast<std::size_t>(share * width);
  auto bar = std::string(full, '=') + std::string(width - full, ' ');
  std::fprintf(stderr, "\r[%s] %3.0f %% %s\033[K", bar.c_str(), share * 100,
               details.c_str());
}

} // namespace perigee::app
