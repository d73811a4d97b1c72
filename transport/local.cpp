#include "transport/local.hpp"

#include "schemas/assert.hpp"
#include "transport/lanes.hpp"
#include "transport/move_run.hpp"
#include "transport/tally.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

namespace perigee::transport {

namespace {

using moment = std::chrono::steady_clock::time_point;

/// `limit` from now; a long time from now if that is longer than the clock goes.
moment after(std::chrono::nanoseconds limit) {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 365};
  return std::chrono::steady_clock::now() + std::min(limit, longest);
}

} // namespace

struct local::job {
  job(move_id number, move_run begun, on_done told)
    : id(number), run(std::move(begun)), then(std::move(told)),
      deadline(after(run.what().limit)) {}

  const move_id id;
  move_run run; // the porter's thread alone uses it
  on_done then;
  const moment deadline;
  std::uint64_t watch = 0;
  bool parked = false;         // waits for its gate, in no lane
  std::optional<fault> doom{}; // to end with this, as soon as the thread comes by
};

/// What the thread and the callers share.
class local::porter : public std::enable_shared_from_this<porter> {
public:
  explicit porter(local_options how) : how_(how) {}

  result<void, fault> take(std::shared_ptr<job> one);
  tl::unexpected<fault> refuse(fault why);
  void doom(move_id id, fault why);
  void doom_all(fault why);
  void work();
  statistics counted() const;

private:
  using lock = std::unique_lock<std::mutex>;
  using job_ptr = std::shared_ptr<job>;

  void wake(const job_ptr& one);
  void doom_overdue();
  void end(lock& held, const job_ptr& one, std::optional<fault> why);
  bool step(lock& held);
  void rest(lock& held);

  const local_options how_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::map<move_id, job_ptr> jobs_;
  std::set<std::pair<moment, move_id>> deadlines_;
  lanes<job_ptr> ready_;
  std::deque<job_ptr> doomed_;
  tally tally_;
  bool closed_ = false;
};

// -- for the callers ----------------------------------------------------------

result<void, fault> local::porter::take(job_ptr one) {
  lock held{mutex_};
  PERIGEE_ASSERT(!jobs_.contains(one->id), "two moves of one number");
  if (closed_)
    return tally_.refused(fault::closed);
  if (jobs_.size() >= how_.outstanding_max)
    return tally_.refused(fault::busy);
  if (const auto& gate = one->run.what().wait_for)
    one->watch = gate->watch([me = weak_from_this(), weak = std::weak_ptr{one}] {
      auto held_by = me.lock();
      if (auto woken = weak.lock(); held_by && woken)
        held_by->wake(woken);
    });
  jobs_.emplace(one->id, one);
  deadlines_.emplace(one->deadline, one->id);
  ready_.push(one->run.what().urgency, one); // if only to see that it is to wait
  news_.notify_one();
  return {};
}

tl::unexpected<fault> local::porter::refuse(fault why) {
  lock held{mutex_};
  return tally_.refused(why);
}

void local::porter::wake(const job_ptr& one) {
  lock held{mutex_};
  if (!one->parked)
    return;
  one->parked = false;
  ready_.push(one->run.what().urgency, one);
  news_.notify_one();
}

void local::porter::doom(move_id id, fault why) {
  lock held{mutex_};
  auto at = jobs_.find(id);
  if (at == jobs_.end() || at->second->doom)
    return;
  at->second->doom = why;
  doomed_.push_back(at->second);
  news_.notify_one();
}

void local::porter::doom_all(fault why) {
  lock held{mutex_};
  closed_ = true;
  for (auto& [id, one] : jobs_)
    if (!one->doom) {
      one->doom = why;
      doomed_.push_back(one);
    }
  news_.notify_one();
}

statistics local::porter::counted() const {
  lock held{mutex_};
  return tally_.read(jobs_.size());
}

// -- the thread ---------------------------------------------------------------

void local::porter::work() {
  lock held{mutex_};
  while (!closed_ || !jobs_.empty()) {
    doom_overdue();
    if (!step(held))
      rest(held);
  }
}

/// False if there is nothing to do now.
bool local::porter::step(lock& held) {
  if (!doomed_.empty()) {
    auto one = std::move(doomed_.front());
    doomed_.pop_front();
    end(held, one, one->doom);
    return true;
  }
  auto next = ready_.pop();
  if (!next)
    return false;
  auto& one = **next;
  if (one.doom)
    return true; // doomed_ has it, or had
  held.unlock();
  one.run.turn(how_.turn_bytes);
  held.lock();
  if (one.doom)
    return true;
  switch (one.run.look()) {
    case move_run::state::ready: ready_.push(one.run.what().urgency, *next); break;
    case move_run::state::waiting: one.parked = true; break;
    case move_run::state::starved: end(held, *next, fault::starved); break;
    case move_run::state::done: end(held, *next, std::nullopt); break;
  }
  return true;
}

void local::porter::rest(lock& held) {
  if (deadlines_.empty())
    news_.wait(held);
  else
    news_.wait_until(held, deadlines_.begin()->first);
}

void local::porter::doom_overdue() {
  auto now = std::chrono::steady_clock::now();
  for (; !deadlines_.empty() && deadlines_.begin()->first <= now;
       deadlines_.erase(deadlines_.begin())) {
    auto& one = jobs_.at(deadlines_.begin()->second);
    if (one->doom)
      continue;
    one->doom = fault::timed_out;
    doomed_.push_back(one);
  }
}

void local::porter::end(lock& held, const job_ptr& one, std::optional<fault> why) {
  jobs_.erase(one->id);
  deadlines_.erase({one->deadline, one->id});
  held.unlock();
  if (const auto& gate = one->run.what().wait_for)
    gate->unwatch(one->watch);
  auto came = one->run.end(why);
  held.lock();
  tally_.ended(came);
  held.unlock();
  one->then(one->id, came);
  held.lock();
}

// -- local --------------------------------------------------------------------

local::local(const segment_table& segments, local_options how)
  : segments_(segments), porter_(std::make_shared<porter>(how)),
    thread_([this] { porter_->work(); }) {}

local::~local() {
  close();
}

result<void, fault> local::submit(move_id id, move what, on_done then) {
  auto from = segments_.find(what.from), to = segments_.find(what.to);
  if (!from || !to)
    return porter_->refuse(fault::gone);
  auto run = move_run::begin(std::move(what), std::move(*from), std::move(*to));
  if (!run)
    return porter_->refuse(run.error());
  return porter_->take(std::make_shared<job>(id, std::move(*run), std::move(then)));
}

void local::abort(move_id id, fault why) {
  porter_->doom(id, why);
}

void local::close() {
  porter_->doom_all(fault::closed);
  if (thread_.joinable())
    thread_.join();
}

statistics local::counted() const {
  return porter_->counted();
}

} // namespace perigee::transport
