#include "actors/cluster/event_times.hpp"
#include "apps/perigee/replay/report.hpp"

#include <algorithm>

namespace perigee::app {

std::vector<told_event> told_events(const cluster::topology& all) {
  std::vector<told_event> some;
  for (const auto& one : all.events) {
    auto times = cluster::times_of(one);
    auto& event = some.emplace_back();
    event.at = times.begins;
    if (times.ever_ends() && times.ends > times.begins)
      event.until = times.ends;
    event.what = cluster::description_of(one);
  }
  std::ranges::stable_sort(some, {}, &told_event::at);
  return some;
}

} // namespace perigee::app
