#include "actors/cluster/disruption_plan.hpp"

#include <algorithm>

namespace perigee::cluster {

disruption_plan::disruption_plan(const std::vector<disruption>& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (bool begins : {true, false})
      if (auto at = begins ? all[i].begins : all[i].ends; at != nanoseconds::max())
        all_.push_back({at, {i, begins}});
  auto rank = [&](const dated& one) {
    const auto& of = all[one.what.of];
    bool is_short = of.begins == of.ends; // its end cannot come first
    return std::pair{one.at, !is_short && one.what.begins};
  };
  std::ranges::stable_sort(all_, {}, rank);
}

std::optional<std::chrono::nanoseconds> disruption_plan::next() const {
  if (taken_ == all_.size())
    return std::nullopt;
  return all_[taken_].at;
}

std::vector<disruption_plan::change> disruption_plan::take(nanoseconds now) {
  std::vector<change> due;
  for (; taken_ < all_.size() && all_[taken_].at <= now; ++taken_)
    due.push_back(all_[taken_].what);
  return due;
}

} // namespace perigee::cluster
