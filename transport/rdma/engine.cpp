#include "transport/rdma/engine.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace perigee::transport::rdma {

namespace {

constexpr std::size_t visitors_max = 64;
constexpr std::chrono::milliseconds tick{10};
constexpr unsigned route_shift = 16; // as path numbers its work requests

} // namespace

engine::engine(tools with, streams::file listening)
  : with_(std::move(with)), listening_(std::move(listening)) {
  poller_.watch(listening_.fd(), false);
  poller_.watch(with_.tasks.fd(), false);
  for (const auto& one : with_.devices) {
    poller_.watch(one->completions_fd(), false);
    poller_.watch(one->events_fd(), false);
  }
}

void engine::work() {
  while (!is_over()) {
    for (const auto& task : with_.tasks.take())
      task(*this);
    heed(std::exchange(news_, {}));
    bool busy = take_completions();
    auto now = std::chrono::steady_clock::now();
    if (busy)
      last_completion_ = now;
    doom_overdue(now);
    look_at_clock(now);
    give_up_lost(now);
    auto eased = wants_.take_eased();
    for (const auto& [who, one] : partners_) {
      if (eased)
        one->others_have_eased();
      one->pump();
      poller_.watch(one->fd(), one->wants_room());
    }
    if (!busy)
      rest();
  }
}

/// Closed, and all has been told.
bool engine::is_over() {
  if (!is_closing_ || !moves_.empty())
    return false;
  while (!partners_.empty())
    drop(partners_.begin()->first, fault::closed);
  return true;
}

/// Polls for a little, then sleeps until there is news.
void engine::rest() {
  auto now = std::chrono::steady_clock::now();
  if (now - last_completion_ < with_.how.polling
      && std::ranges::any_of(
        partners_, [](const auto& one) { return one.second->is_in_flight(); }))
    return;
  for (const auto& one : with_.devices)
    one->arm();
  if (!take_completions()) // what came before it was armed
    news_ = poller_.wait(may_rest(now));
}

std::chrono::nanoseconds engine::may_rest(moment now) const {
  using std::chrono::nanoseconds;
  if (!visitors_.empty() || !expected_.empty() || is_closing_
      || std::ranges::any_of(
        partners_, [](const auto& one) { return one.second->is_busy_with_time(); }))
    return tick;
  std::optional<moment> next;
  if (!deadlines_.empty())
    next = deadlines_.begin()->first;
  for (const auto& [who, one] : partners_)
    if (auto wakes = one->wakes_at())
      next = next ? std::min(*next, *wakes) : *wakes;
  return next ? std::max(nanoseconds{0}, nanoseconds{*next - now}) : nanoseconds{-1};
}

// -- what has come ------------------------------------------------------------------

void engine::heed(const std::vector<int>& news) {
  for (int fd : news) {
    if (fd == listening_.fd())
      accept_visitors();
    for (const auto& one : with_.devices) {
      if (fd == one->completions_fd())
        one->take_notices();
      if (fd == one->events_fd())
        heed_events(*one);
    }
    for (const auto& [who, one] : partners_)
      if (fd == one->fd())
        one->heed_line();
  }
  heed_visitors(std::chrono::steady_clock::now());
}

bool engine::take_completions() {
  bool any = false;
  for (const auto& one : with_.devices) {
    std::array<ibv_wc, 32> room;
    for (auto got = one->poll(room); !got.empty(); got = one->poll(room)) {
      any = true;
      for (const auto& wc : got)
        if (auto* over = routes_.find(wc.wr_id >> route_shift))
          over->completed(wc);
      if (got.size() < room.size())
        break;
    }
  }
  return any;
}

void engine::heed_events(device& of) {
  bool works = of.take_events();
  if (works && of.port_is_up())
    return;
  for (const auto& [who, one] : partners_)
    one->port_has_failed(of);
}

// -- peers --------------------------------------------------------------------------

surroundings engine::around() {
  return {with_.how,        with_.devices, with_.device_counters,
          with_.registered, with_.notes,   routes_,
          wants_,           *this};
}

partner* engine::find(peer_id who) const {
  auto at = partners_.find(who);
  return at == partners_.end() ? nullptr : at->second.get();
}

template <class... Args>
void engine::add_partner(peer_id who, Args&&... how) {
  auto& one = partners_[who];
  one = std::make_unique<partner>(around(), who, std::forward<Args>(how)...);
  if (auto at = rates_.find(who); at != rates_.end())
    one->set_rates(at->second);
}

void engine::set_rates(peer_id who, const rates& most) {
  if (!with_.notes.peers.counted_of(who))
    return;
  rates_[who] = most;
  if (auto* with = find(who))
    with->set_rates(most);
}

void engine::accept_visitors() {
  for (;;) {
    streams::file came{
      accept4(listening_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!came)
      return;
    if (visitors_.size() >= visitors_max || is_closing_) {
      with_.notes.turned_away_stranger();
      continue;
    }
    poller_.watch(came.fd(), false);
    visitors_.push_back({line{std::move(came)}, after(with_.how.silence_limit)});
  }
}

void engine::heed_visitors(moment now) {
  for (std::size_t left = visitors_.size(); left > 0; --left) {
    auto one = std::move(visitors_.front());
    visitors_.pop_front();
    auto said = one.from.receive();
    if (!said && !one.from.ended() && now < one.until) {
      visitors_.push_back(std::move(one)); // it has said nothing yet
      continue;
    }
    poller_.forget(one.from.fd());
    auto* greeting = said ? std::get_if<say::hello>(&*said) : nullptr;
    if (auto who = greeting ? who_shows(greeting->shown) : std::nullopt)
      add_partner(*who, std::move(one.from), *greeting);
    else
      with_.notes.turned_away_stranger();
  }
}

/// Whose ticket it is. It is good no longer.
std::optional<peer_id> engine::who_shows(const ticket& shown) {
  auto at = std::ranges::find(expected_, shown, &expected::shown);
  if (at == expected_.end())
    return std::nullopt;
  auto who = at->who;
  expected_.erase(at);
  return who;
}

void engine::expect(peer_id who, const ticket& shown, moment until) {
  expected_.push_back({who, shown, until});
}

void engine::connect(peer_id who, const tcp::address& where, const ticket& shown) {
  add_partner(who, where, shown);
}

void engine::is_up(peer_id who) {
  with_.notes.peers.set_state(who, peer_state::up);
  with_.told(who, {peer_state::up});
}

void engine::give_up_lost(moment now) {
  std::vector<std::pair<peer_id, loss>> lost;
  for (const auto& [who, one] : partners_)
    if (auto why = one->is_lost(now); why != loss::none)
      lost.emplace_back(who, why);
  for (const auto& one : expected_)
    if (one.until <= now)
      lost.emplace_back(one.who, loss::unreachable);
  std::erase_if(expected_, [&](const expected& one) { return one.until <= now; });
  for (auto [who, why] : lost) {
    with_.notes.peers.set_state(who, peer_state::lost);
    drop(who, fault::peer_lost);
    with_.told(who, {peer_state::lost, why});
  }
}

/// When it has returned the peer reaches nothing here.
void engine::drop(peer_id who, fault why) {
  auto at = partners_.find(who);
  if (at == partners_.end())
    return;
  at->second->end(why);
  poller_.forget(at->second->fd());
  partners_.erase(at);
}

void engine::forget(peer_id who) {
  std::erase_if(expected_, [&](const expected& one) { return one.who == who; });
  drop(who, fault::peer_lost);
  rates_.erase(who);
  with_.notes.peers.erase(who);
  with_.told(who, {peer_state::forgotten});
}

void engine::revoke(segment_id which) {
  for (const auto& [who, one] : partners_)
    one->revoke(which);
}

// -- moves --------------------------------------------------------------------------

void engine::begin(const peer_move_ptr& what) {
  moves_.emplace(what->id, what);
  deadlines_.emplace(what->deadline, what->id);
  if (is_closing_)
    what->doom(fault::closed);
  if (auto* with = find(what->peer))
    return with->begin(what);
  what->doom(fault::peer_lost);
  has_ended(what);
}

void engine::resume(const peer_move_ptr& what) {
  if (auto* with = find(what->peer))
    with->resume(what);
}

void engine::doom(move_id id, fault why) {
  if (auto at = moves_.find(id); at != moves_.end())
    if (auto* with = find(at->second->peer))
      with->doom(peer_move_ptr{at->second}, why);
}

void engine::doom_overdue(moment now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    auto id = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    if (with_.notes.doom(id))
      doom(id, fault::timed_out);
  }
}

void engine::look_at_clock(moment now) {
  for (const auto& [who, one] : partners_)
    one->look_at_clock(now);
}

void engine::has_ended(const peer_move_ptr& what) {
  moves_.erase(what->id);
  deadlines_.erase({what->deadline, what->id});
  if (const auto& gate = what->what().wait_for)
    gate->unwatch(what->watch);
  auto came = what->end();
  with_.notes.ended(*what, came);
  what->tell(came);
}

void engine::close() {
  is_closing_ = true;
  for (const auto& [id, what] : std::map{moves_})
    if (with_.notes.doom(id))
      doom(id, fault::closed);
}

} // namespace perigee::transport::rdma
