#include "apps/perigee/replay/session_turns.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <iterator>

namespace perigee::app {

session_turns::fate session_turns::take(request& one, nanoseconds now) {
  if (!one.session)
    return fate::now;
  auto id = *one.session;
  auto [found, is_first] = sessions_.try_emplace(id);
  auto& session = found->second;
  bool goes = !one.think || is_first;
  if (!goes && session.is_over)
    return fate::never;
  goes = goes
         || (session.open == 0 && !waiting_.contains(id)
             && session.answered + *one.think <= now);
  if (goes) {
    ++session.open;
    return fate::now;
  }
  waiting_[id].turns.push_back(std::move(one));
  look_at_first(id, now);
  return fate::later;
}

void session_turns::look_at_first(std::uint64_t session, nanoseconds now) {
  auto found = waiting_.find(session);
  const auto& of = sessions_.at(session);
  if (found == waiting_.end() || found->second.due || of.open > 0)
    return;
  auto& line = found->second;
  line.due = std::max(now, of.answered + *line.turns.front().think);
  due_.emplace(*line.due, session);
}

std::deque<workload::request> session_turns::ended(std::uint64_t session,
                                                   bool is_served, nanoseconds at) {
  auto& of = sessions_.at(session);
  PERIGEE_ASSERT(of.open > 0, "only what was sent ends");
  --of.open;
  of.answered = at;
  of.is_over = of.is_over || !is_served;
  auto found = waiting_.find(session);
  if (!of.is_over || found == waiting_.end()) {
    look_at_first(session, at);
    return {};
  }
  if (auto due = found->second.due)
    due_.erase({*due, session});
  auto lost = std::move(found->second.turns);
  waiting_.erase(found);
  return lost;
}

std::optional<session_turns::nanoseconds> session_turns::next_due() const {
  return due_.empty() ? std::nullopt : std::optional{due_.begin()->first};
}

workload::request session_turns::pop() {
  PERIGEE_ASSERT(!due_.empty(), "who takes a turn has asked when it is due");
  auto session = due_.begin()->second;
  due_.erase(due_.begin());
  auto& line = waiting_.at(session);
  auto one = std::move(line.turns.front());
  line.turns.pop_front();
  line.due.reset();
  if (line.turns.empty())
    waiting_.erase(session);
  ++sessions_.at(session).open;
  return one;
}

std::vector<workload::request> session_turns::give_up() {
  std::vector<request> all;
  for (auto& [_, line] : waiting_)
    std::move(line.turns.begin(), line.turns.end(), std::back_inserter(all));
  waiting_.clear();
  due_.clear();
  return all;
}

} // namespace perigee::app
