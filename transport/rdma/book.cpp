#include "transport/rdma/book.hpp"

#include "schemas/assert.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

namespace perigee::transport::verbs {

inbox::inbox() : news_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  PERIGEE_ASSERT(news_, "an eventfd can be made");
}

void inbox::leave(task what) {
  bool is_first = false;
  {
    std::lock_guard held{mutex_};
    is_first = tasks_.empty();
    tasks_.push_back(std::move(what));
  }
  if (is_first)
    eventfd_write(news_.get(), 1);
}

std::deque<inbox::task> inbox::take() {
  eventfd_t unused = 0;
  eventfd_read(news_.get(), &unused);
  std::lock_guard held{mutex_};
  return std::exchange(tasks_, {});
}

// -- peers ----------------------------------------------------------------------

result<void, fault> book::add_peer(peer_id who) {
  lock held{mutex_};
  PERIGEE_ASSERT(!peers_.contains(who), "two peers of one number");
  if (is_closed_)
    return failure(fault::closed);
  if (peers_.size() >= how_.peers_max)
    return failure(fault::busy);
  peers_.try_emplace(who);
  return {};
}

void book::set_state(peer_id who, peer_state state) {
  lock held{mutex_};
  peers_.at(who).state = state;
}

void book::set_paths(peer_id who, std::vector<const path*> paths) {
  lock held{mutex_};
  if (auto at = peers_.find(who); at != peers_.end())
    at->second.paths = std::move(paths);
}

void book::erase_peer(peer_id who) {
  lock held{mutex_};
  peers_.erase(who);
  std::erase_if(segments_, [&](const auto& one) { return one.second.owner == who; });
}

std::optional<peer_state> book::state_of(peer_id who) const {
  lock held{mutex_};
  auto at = peers_.find(who);
  return at == peers_.end() ? std::nullopt : at->second.state;
}

std::optional<peer_statistics> book::counted_of(peer_id who) const {
  lock held{mutex_};
  auto at = peers_.find(who);
  if (at == peers_.end())
    return std::nullopt;
  peer_statistics counts;
  counts.moves = at->second.moves.read(0);
  counts.requests_refused_total = at->second.requests_refused_total;
  return counts;
}

rdma_path_report report_of(const std::string& device, const path_counters& counters) {
  return {device,
          counters.is_up,
          counters.bytes_total,
          counters.work_requests_total,
          counters.failures_total,
          counters.connections_total};
}

std::vector<rdma_path_report> book::paths_of(peer_id who) const {
  lock held{mutex_};
  std::vector<rdma_path_report> all;
  if (auto at = peers_.find(who); at != peers_.end())
    for (const auto* one : at->second.paths)
      all.push_back(report_of(one->from().name(), one->counters()));
  return all;
}

void book::refused_request(peer_id who) {
  lock held{mutex_};
  ++peers_.at(who).requests_refused_total;
}

// -- their segments --------------------------------------------------------------

result<void, fault> book::learn(peer_id who, const segment& what) {
  lock held{mutex_};
  auto at = peers_.find(who);
  if (at == peers_.end() || at->second.state == peer_state::lost)
    return failure(fault::gone);
  if (auto known = segments_.find(what.id); known != segments_.end()) {
    const auto& [owner, is_up, before] = known->second;
    bool same
      = owner == who && before.shape == what.shape && before.blocks == what.blocks;
    return same ? result<void, fault>{} : failure(fault::refused);
  }
  if (at->second.segments >= how_.segments_max)
    return failure(fault::busy);
  ++at->second.segments;
  segments_.emplace(what.id, remote_segment{who, false, what});
  return {};
}

std::optional<book::remote_segment> book::find(segment_id which) const {
  lock held{mutex_};
  auto at = segments_.find(which);
  if (at == segments_.end())
    return std::nullopt;
  auto found = at->second;
  found.is_up = peers_.at(found.owner).state == peer_state::up;
  return found;
}

// -- moves -----------------------------------------------------------------------

tl::unexpected<fault> book::refused(fault why) {
  lock held{mutex_};
  return tally_.refused(why);
}

result<void, fault> book::begin(move_id id) {
  lock held{mutex_};
  PERIGEE_ASSERT(!moves_.contains(id), "two moves of one number");
  if (is_closed_)
    return tally_.refused(fault::closed);
  if (moves_.size() >= how_.outstanding_max)
    return tally_.refused(fault::busy);
  moves_.emplace(id, false);
  return {};
}

bool book::doom(move_id id) {
  lock held{mutex_};
  auto at = moves_.find(id);
  return at != moves_.end() && !std::exchange(at->second, true);
}

void book::ended(const peer_move& what, const outcome& came) {
  lock held{mutex_};
  moves_.erase(what.id);
  tally_.ended(came);
  if (auto at = peers_.find(what.peer); at != peers_.end())
    at->second.moves.ended(came);
}

statistics book::counted() const {
  lock held{mutex_};
  return tally_.read(moves_.size());
}

void book::close() {
  lock held{mutex_};
  is_closed_ = true;
}

void book::turned_away_stranger() {
  lock held{mutex_};
  ++strangers_total_;
}

std::uint64_t book::strangers_total() const {
  lock held{mutex_};
  return strangers_total_;
}

} // namespace perigee::transport::verbs
