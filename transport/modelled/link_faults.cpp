#include "transport/modelled/link_faults.hpp"

#include <algorithm>
#include <utility>

namespace perigee::transport {

link_faults::link_faults(std::vector<double> capacities, std::vector<link_fault> all)
  : whole_(std::move(capacities)), now_(whole_), all_(std::move(all)) {
  for (const auto& one : all_)
    touched_.insert(touched_.end(), one.links.begin(), one.links.end());
  std::ranges::sort(touched_);
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
}

std::vector<link_faults::change> link_faults::take_changes(nanoseconds now) {
  std::vector<change> some;
  for (auto link : touched_)
    if (auto is = capacity_at(link, now); std::exchange(now_[link], is) != is)
      some.push_back({link, is});
  return some;
}

std::optional<std::chrono::nanoseconds> link_faults::next_after(nanoseconds now) const {
  std::optional<nanoseconds> next;
  for (const auto& one : all_)
    for (auto moment : {one.begins, one.ends})
      if (moment > now && moment != nanoseconds::max() && (!next || moment < *next))
        next = moment;
  return next;
}

double link_faults::capacity_at(link_index link, nanoseconds now) const {
  double share = 1;
  for (const auto& one : all_)
    if (one.begins <= now && now < one.ends && std::ranges::count(one.links, link) > 0)
      share *= one.share;
  return share > 0 ? whole_[link] * share : 0; // also of one without a limit
}

} // namespace perigee::transport
