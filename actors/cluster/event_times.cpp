#include "actors/cluster/event_times.hpp"

#include <cmath>

namespace perigee::cluster {
namespace {

std::chrono::nanoseconds from_s(double seconds) {
  return std::chrono::nanoseconds{std::llround(seconds * 1e9)};
}

} // namespace

event_times times_of(const event_settings& one, std::chrono::nanoseconds trace_began) {
  event_times all;
  all.begins = trace_began + from_s(one.at_s);
  if (one.for_s > 0)
    all.ends = all.begins + from_s(one.for_s);
  else if (one.what == "kill" && !one.actor.empty())
    all.ends = all.begins;
  return all;
}

std::string description_of(const event_settings& one) {
  if (!one.from.empty())
    return one.what + ' ' + one.from + " to " + one.to;
  if (one.actor.empty())
    return one.what + ' ' + one.node;
  return one.what + ' ' + one.actor + '.' + std::to_string(one.index) + " of "
         + one.node;
}

bool is_of_link(const event_settings& one) {
  return one.what == "slow_link" || one.what == "cut_link";
}

} // namespace perigee::cluster
