#include "actors/cluster/respawn_plan.hpp"

#include <algorithm>

namespace perigee::cluster {

std::optional<std::chrono::nanoseconds>
respawn_plan::ended(std::chrono::nanoseconds now) {
  if (now - started_ >= how_.settled_after)
    attempts_ = 0;
  if (attempts_ >= how_.attempts_max)
    return std::nullopt;
  auto before = attempts_++;
  if (before == 0)
    return std::chrono::nanoseconds{0};
  auto wait = how_.wait_first;
  for (std::uint64_t i = 1; i < before && wait < how_.wait_max; ++i)
    wait *= 2;
  return std::min(wait, how_.wait_max);
}

} // namespace perigee::cluster
