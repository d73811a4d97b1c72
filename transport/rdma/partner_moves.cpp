#include "transport/rdma/partner.hpp"

#include <algorithm>

namespace perigee::transport::rdma {

namespace {

/// Moves that are looked at in vain before those behind them must wait for the next
/// completion.
constexpr std::size_t blocked_max = 32;

} // namespace

void partner::begin(const peer_move_ptr& what) {
  moves_.emplace(what->id, what);
  settle(what);
}

void partner::resume(const peer_move_ptr& what) {
  if (moves_.contains(what->id))
    settle(what);
}

void partner::doom(const peer_move_ptr& what, fault why) {
  what->doom(why);
  settle(what);
}

void partner::arrived(const peer_move_ptr& whose, const piece& one) {
  turns_.came_back(whose->urgency);
  whose->arrived(one);
  settle(whose);
}

void partner::came_back(const peer_move_ptr& whose, const piece& one,
                        std::optional<fault> why) {
  turns_.came_back(whose->urgency);
  whose->give_back(one);
  if (why)
    whose->doom(*why);
  settle(whose);
}

/// Puts it where it belongs: into a lane, to its gate, or to its end.
void partner::settle(const peer_move_ptr& what) {
  switch (what->look()) {
    case peer_move::state::ready:
      turns_.count(*what, true);
      enqueue(what);
      break;
    case peer_move::state::waiting:
      turns_.count(*what, false);
      what->parked = true;
      if (what->look() != peer_move::state::waiting && what->parked.exchange(false))
        settle(what); // it opened in between, and nobody has seen that it is parked
      break;
    case peer_move::state::starved: doom(what, fault::starved); break;
    case peer_move::state::draining: break;
    case peer_move::state::over:
      turns_.count(*what, false);
      if (moves_.erase(what->id) > 0)
        all_.owner.has_ended(what);
      break;
  }
}

void partner::enqueue(const peer_move_ptr& what) {
  if (!std::exchange(what->in_lane, true))
    ready_.push(what->urgency, what);
  can_go_on_ = true;
}

void partner::pump() {
  if (!std::exchange(can_go_on_, false))
    return;
  for (const auto& one : std::exchange(blocked_, {}))
    ready_.push(one->urgency, one);
  while (blocked_.size() < blocked_max) {
    auto next = ready_.pop_if([this](const peer_move_ptr& one) {
      return one->look() != peer_move::state::ready
             || turns_.may_go(*one, std::chrono::steady_clock::now());
    });
    if (!next)
      return;
    if (go(*next) == step::blocked)
      blocked_.push_back(std::move(*next));
  }
}

partner::step partner::go(const peer_move_ptr& what) {
  if (what->look() == peer_move::state::ready) {
    ask_for(what->there());
    if (wanted_.at(what->there()) == asked::denied)
      what->doom(fault::refused);
    else if (auto* over = choose(*what))
      post(what, *over);
    else
      return step::blocked;
  }
  what->in_lane = false;
  settle(what);
  return step::gone_on;
}

void partner::post(const peer_move_ptr& what, path& over) {
  auto next = what->next(turns_.piece_bytes(*what, all_.how.slice_bytes));
  turns_.went(*what, next.part.bytes, std::chrono::steady_clock::now());
  over.post(what, next);
}

void partner::ask_for(segment_id there) {
  if (wanted_.try_emplace(there, asked::waiting).second)
    say(say::want{there});
}

/// Of the paths that are up the nearest, of those with room the one with least to do.
path* partner::choose(const peer_move& what) const {
  path* best = nullptr;
  auto nearest = ~0u;
  for (const auto& one : paths_) {
    if (!one->is_up() || !one->has_keys(what.there()))
      continue;
    auto far = one->distance(what);
    if (far < nearest) {
      nearest = far;
      best = nullptr;
    }
    if (far == nearest && one->has_room(!what.is_write)
        && (!best || one->bytes_in_flight() < best->bytes_in_flight()))
      best = one.get();
  }
  return best;
}

} // namespace perigee::transport::rdma
