#include "transport/inline_local.hpp"

#include "schemas/assert.hpp"
#include "transport/move_run.hpp"

#include <limits>

namespace perigee::transport {

struct inline_local::job {
  move_id id;
  move_run run;
  on_done then;
  std::uint64_t watch = 0;
  bool in_turn = false;        // its copying has led back to here
  std::optional<fault> doom{}; // it is to end when the turn is over
  bool over = false;
};

inline_local::inline_local(const segment_table& segments, std::size_t outstanding_max)
  : segments_(segments), outstanding_max_(outstanding_max) {}

inline_local::~inline_local() {
  close();
}

result<void, fault> inline_local::submit(move_id id, move what, on_done then) {
  PERIGEE_ASSERT(!jobs_.contains(id), "two moves of one number");
  if (closed_)
    return tally_.refused(fault::closed);
  if (jobs_.size() >= outstanding_max_)
    return tally_.refused(fault::busy);
  auto from = segments_.find(what.from), to = segments_.find(what.to);
  if (!from || !to)
    return tally_.refused(fault::gone);
  auto run = move_run::begin(std::move(what), std::move(*from), std::move(*to));
  if (!run)
    return tally_.refused(run.error());
  auto one = std::make_shared<job>(job{id, std::move(*run), std::move(then)});
  jobs_.emplace(id, one);
  if (const auto& gate = one->run.what().wait_for)
    one->watch = gate->watch([this, weak = std::weak_ptr{one}] {
      if (auto held = weak.lock(); held && !held->over)
        carry_on(held);
    });
  carry_on(one);
  return {};
}

void inline_local::carry_on(const job_ptr& one) {
  if (one->in_turn)
    return; // below us on the stack, and about to look again
  one->in_turn = true;
  do
    one->run.turn(std::numeric_limits<std::uint64_t>::max());
  while (!one->doom && one->run.look() == move_run::state::ready);
  one->in_turn = false;
  auto now = one->run.look();
  if (one->doom)
    end(one, one->doom);
  else if (now == move_run::state::starved)
    end(one, fault::starved);
  else if (now == move_run::state::done)
    end(one, std::nullopt);
}

void inline_local::end(const job_ptr& one, std::optional<fault> why) {
  one->over = true;
  if (const auto& gate = one->run.what().wait_for)
    gate->unwatch(one->watch);
  jobs_.erase(one->id);
  auto came = one->run.end(why);
  tally_.ended(came);
  one->then(one->id, came);
}

void inline_local::abort(move_id id, fault why) {
  auto at = jobs_.find(id);
  if (at == jobs_.end())
    return;
  auto one = at->second;
  if (one->in_turn)
    one->doom = why;
  else
    end(one, why);
}

void inline_local::close() {
  closed_ = true;
  while (!jobs_.empty()) {
    auto one = jobs_.begin()->second;
    PERIGEE_ASSERT(!one->in_turn, "closed from within a move");
    end(one, fault::closed);
  }
}

statistics inline_local::counted() const {
  return tally_.read(jobs_.size());
}

} // namespace perigee::transport
