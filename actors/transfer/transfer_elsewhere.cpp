#include "actors/transfer/transfer_state.hpp"

#include <algorithm>
#include <array>

namespace perigee::transfer {

const far_segment* transfer_state::far_end_of(const transport::move& what) const {
  for (auto one : {what.from, what.to})
    if (auto at = lines_.known().find(one); at != lines_.known().end())
      return &at->second;
  return nullptr;
}

// -- other nodes --------------------------------------------------------------

/// Whether a segment that is not known may become so.
bool transfer_state::may_come(fault why) const {
  return why == fault::gone && lines_.expects_more();
}

/// What a predecessor had sent may be on its way still. Once there is a line of ours it is
/// not: none begins before.
void transfer_state::note_again(movement& one, const Msg<schema::Push>& wish) const {
  if (!wish->getAgain())
    return;
  one.writes_to = node_index{wish->getToNode()};
  one.is_torn = lines_.is_there(*one.writes_to) && !lines_.is_settled(*one.writes_to);
}

void transfer_state::park_or_end(number mine, fault why) {
  if (!may_come(why))
    return end(mine, why);
  parked_.insert(mine);
}

/// The connection has failed: there will be another, unless this was to end anyway, or
/// somebody has been told how far it came.
void transfer_state::end_or_park(number mine, schema::MoveFault why) {
  auto& one = open_.at(mine);
  one.is_torn = why == schema::MoveFault::BROKEN && one.writes_to
                && lines_.is_there(*one.writes_to);
  if (one.stopped && why == schema::MoveFault::BROKEN)
    return end(mine, *one.stopped);
  if (why != schema::MoveFault::BROKEN || one.what().getOpenGate() != 0
      || !lines_.expects_more())
    return end(mine, why, 0);
  probe_->moved_again();
  one.by = nullptr;
  parked_.insert(mine);
}

void transfer_state::try_parked() {
  for (auto mine : std::exchange(parked_, {})) {
    const auto& one = open_.at(mine);
    auto what = to_move(one.what(), here());
    if (!what) {
      park_or_end(mine, what.error());
    } else {
      what->limit = one.ends_at - desk_.now();
      submit(mine, std::move(*what));
    }
  }
}

transport::on_peer transfer_state::ear(std::string_view way) {
  auto* door = &doors_.open(way);
  return [door, to = handle{self_}](transport::peer_id which,
                                    const transport::peer_news& news) {
    door->tell<schema::LineChanged>(to, rt::unprompted,
                                    [&](schema::LineChanged::Builder said) {
                                      said.setLine(static_cast<std::uint64_t>(which));
                                      said.setState(to_schema(news.state));
                                      said.setWhy(std::string{to_text(news.why)});
                                    });
  };
}

void transfer_state::on_dial(const Msg<schema::Dial>& wish) {
  lines_.on_dial(wish);
}
void transfer_state::on_dialed(const Msg<schema::Dialed>& said) {
  lines_.on_dialed(said);
}
void transfer_state::on_shown(const Msg<schema::Shown>& said) {
  lines_.on_shown(said);
}

void transfer_state::on_line_changed(const Msg<schema::LineChanged>& news) {
  if (!doors_.has(rt::actor_tag{news->getHeader().getSender()}))
    return probe_->dropped_stale();
  lines_.on_line_changed(*news);
}

void transfer_state::on_fence(const Msg<schema::Fence>& wish) {
  if (!desk_.is_from(cluster_name{desk_.me().node, 0}, wish))
    return probe_->dropped_stale();
  fences_[node_index{wish->getIndex()}] = wish->getLife();
  lines_.cut(node_index{wish->getIndex()});
}

void transfer_state::tell_reached(node_index node, schema::Reached::How how) {
  desk_.tell<schema::Reached>(cluster_name{desk_.me().node, 0}, rt::unprompted,
                              [&](schema::Reached::Builder said) {
                                said.setIndex(static_cast<std::uint32_t>(node));
                                said.setHow(how);
                              });
}

bool transfer_state::is_idle_with(node_index node) const {
  return std::ranges::none_of(open_, [&](const auto& one) {
    auto what = one.second.what();
    return std::ranges::any_of(std::array{what.getFrom(), what.getTo()}, [&](auto id) {
      auto at = lines_.known().find(transport::segment_id{id});
      return at != lines_.known().end() && at->second.node == node;
    });
  });
}

/// What was torn is as if it had not begun, or can be answered.
void transfer_state::on_settled(node_index node) {
  std::vector<number> ended; // first: ending one changes the table
  for (auto& [mine, one] : open_)
    if (one.is_torn && one.writes_to == node) {
      one.is_torn = false;
      if (one.ends_with)
        ended.push_back(mine);
    }
  for (auto mine : ended)
    end(mine, *open_.at(mine).ends_with, 0);
}

/// Nothing of `node` reaches memory here, but by a line that is in use.
void transfer_state::on_clear(node_index node) {
  answer_quiesces_for(node);
  auto at = fences_.find(node);
  if (at == fences_.end())
    return;
  desk_.tell<schema::Fenced>(cluster_name{desk_.me().node, 0}, rt::unprompted,
                             [&](schema::Fenced::Builder said) {
                               said.setIndex(static_cast<std::uint32_t>(node));
                               said.setLife(at->second);
                             });
  fences_.erase(at);
}

} // namespace perigee::transfer
