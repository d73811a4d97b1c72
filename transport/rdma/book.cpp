#include "transport/rdma/book.hpp"

#include "schemas/assert.hpp"

#include <sys/eventfd.h>

namespace perigee::transport::rdma {

inbox::inbox() : bell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  PERIGEE_ASSERT(bell_, "an eventfd can be made");
}

void inbox::leave(task what) {
  std::lock_guard held{mutex_};
  if (tasks_.empty())
    eventfd_write(fd(), 1);
  tasks_.push_back(std::move(what));
}

std::deque<inbox::task> inbox::take() {
  std::lock_guard held{mutex_};
  if (!tasks_.empty()) {
    eventfd_t unused = 0;
    eventfd_read(fd(), &unused);
  }
  return std::exchange(tasks_, {});
}

// -- moves -----------------------------------------------------------------------

tl::unexpected<fault> book::refused(fault why) {
  lock held{mutex_};
  return tally_.refused(why);
}

result<void, fault> book::begin(move_id id, peer_id with) {
  lock held{mutex_};
  PERIGEE_ASSERT(!moves_.contains(id), "two moves of one number");
  if (is_closed_)
    return tally_.refused(fault::closed);
  if (moves_.size() >= outstanding_max_)
    return tally_.refused(fault::busy);
  moves_.emplace(id, false);
  peers.began(with);
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
  peers.ended(what.peer, came);
}

statistics book::counted() const {
  lock held{mutex_};
  return tally_.read(moves_.size());
}

void book::close() {
  lock held{mutex_};
  is_closed_ = true;
}

bool book::is_closed() const {
  lock held{mutex_};
  return is_closed_;
}

// -- paths and strangers ---------------------------------------------------------

path_report report_of(const std::string& device, const path_counters& counters) {
  return {device,
          counters.is_up,
          counters.bytes_total,
          counters.work_requests_total,
          counters.failures_total,
          counters.connections_total};
}

void book::set_paths(peer_id who, std::vector<const path*> paths) {
  lock held{mutex_};
  if (paths.empty())
    paths_.erase(who);
  else
    paths_[who] = std::move(paths);
}

std::vector<path_report> book::paths_of(peer_id who) const {
  lock held{mutex_};
  std::vector<path_report> all;
  if (auto at = paths_.find(who); at != paths_.end())
    for (const auto* one : at->second)
      all.push_back(report_of(one->from().name(), one->counters()));
  return all;
}

void book::turned_away_stranger() {
  lock held{mutex_};
  ++strangers_total_;
}

std::uint64_t book::strangers_total() const {
  lock held{mutex_};
  return strangers_total_;
}

} // namespace perigee::transport::rdma
