#include "actors/cluster/cluster_state.hpp"

#include <algorithm>

namespace perigee::cluster {

/// Brings about all that is due, and comes back for the next.
void cluster_state::disrupt() {
  for (auto [of, begins] : disruptions_.take(desk_.now())) {
    const auto& one = how_.disruptions[of];
    if (one.what == disruption::kind::fill) {
      if (begins)
        full_.insert(one.node);
      else
        full_.erase(one.node);
      tell_room(one.node);
    } else if (begins) {
      begin_outage(one);
    } else {
      end_outage(one);
    }
  }
  if (auto due = disruptions_.next()) {
    bool is_free = timers_.put(next_disruption, *due, {});
    PERIGEE_ASSERT(is_free, "there is room for this one");
  }
}

void cluster_state::begin_outage(const disruption& one) {
  for (auto i : concerned_by(one)) {
    are_away_[i] = one.begins < one.ends;
    if (are_away_[i])
      timers_.take(i);
    for (auto& each : units_[i].seats)
      if (each->is_up() && one.concerns(each->node(), each->role(), each->index()))
        each->kill();
  }
}

/// What died of it is as new.
void cluster_state::end_outage(const disruption& one) {
  std::vector<std::size_t> back;
  for (auto i : concerned_by(one)) {
    if (!are_away_[i])
      continue;
    are_away_[i] = false;
    plans_[i] = respawn_plan{how_.respawns};
    bool has_ended = std::none_of(units_[i].seats.begin(), units_[i].seats.end(),
                                  [](const auto& each) { return each->is_occupied(); });
    if (has_ended)
      back.push_back(i);
  }
  start_again(back);
}

std::vector<std::size_t> cluster_state::concerned_by(const disruption& one) const {
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < units_.size(); ++i)
    for (const auto& each : units_[i].seats)
      if (one.concerns(each->node(), each->role(), each->index())) {
        some.push_back(i);
        break;
      }
  return some;
}

/// Tells a node's shard how many of its blocks are not for it.
void cluster_state::tell_room(node_index node) {
  constexpr auto all = ~std::uint32_t{0};
  desk_.tell<schema::Withhold>(shard_name{node, 0}, rt::unprompted,
                               [&](schema::Withhold::Builder wish) {
                                 wish.setBlocks(full_.contains(node) ? all : 0);
                               });
}

} // namespace perigee::cluster
