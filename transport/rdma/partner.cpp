#include "transport/rdma/partner.hpp"

#include <algorithm>

namespace perigee::transport::rdma {

partner::partner(surroundings all, peer_id who, const tcp::address& where,
                 const ticket& shown)
  : id(who), all_(all), turns_(all.wants), line_(line::to(where)) {
  line_.send(say::hello{shown, our_ports()});
}

partner::partner(surroundings all, peer_id who, line accepted,
                 const say::hello& greeting)
  : id(who), all_(all), turns_(all.wants), line_(std::move(accepted)) {
  line_.send(say::welcome{our_ports()});
  greet(greeting.ports, false);
}

std::vector<port_address> partner::our_ports() const {
  std::vector<port_address> ports;
  for (const auto& one : all_.devices)
    ports.push_back(one->address());
  return ports;
}

void partner::greet(const std::vector<port_address>& theirs, bool we_connected) {
  is_greeted_ = true;
  stranded_since_ = std::chrono::steady_clock::now();
  auto ours = all_.devices.size();
  auto pairs = we_connected ? paths_between(ours, theirs.size())
                            : paths_between(theirs.size(), ours);
  std::vector<const path*> made;
  for (auto [connector, acceptor] : pairs) {
    auto here = we_connected ? connector : acceptor;
    auto& from = *all_.devices[here];
    // The completion queue must have room for all peers, and for what is left of queue
    // pairs that are gone.
    auto shares = 2 * all_.how.peers_max * (pairs.size() / ours + 1);
    path_options how{{.depth = std::min(all_.how.queue_depth,
                                        static_cast<std::uint32_t>(
                                          from.limits().completions_max / shares)),
                      .retries = all_.how.packet_retries,
                      .timeout = all_.how.packet_timeout},
                     all_.how.flight_bytes,
                     all_.how.rest_min,
                     all_.how.rest_max};
    paths_.push_back(
      std::make_unique<path>(static_cast<std::uint8_t>(paths_.size()), from, here,
                             theirs[we_connected ? acceptor : connector], how,
                             all_.routes, *this, all_.device_counters[here]));
    made.push_back(paths_.back().get());
  }
  all_.notes.set_paths(id, std::move(made));
}

// -- the line ---------------------------------------------------------------------

void partner::say(const message& what) {
  line_.send(what);
}

void partner::heed_line() {
  if (line_.wants_room())
    line_.flush();
  while (auto what = line_.receive())
    if (!hear(*what)) {
      is_unsound_ = true;
      return;
    }
}

loss partner::is_lost(moment now) const {
  if (is_unsound_ || line_.was_unsound())
    return loss::unsound;
  if (line_.ended())
    return !line_.was_connected() ? loss::unreachable
           : is_greeted_          ? loss::disconnected
                                  : loss::turned_away;
  auto is_over = [&](moment since) { return now - since > all_.how.silence_limit; };
  if (!is_greeted_)
    return is_over(begun_) ? loss::unreachable : loss::none;
  for (const auto& one : paths_)
    if (auto since = one->owed_since(); since && is_over(*since))
      return loss::silent;
  if (stranded_since_ && is_over(*stranded_since_))
    return has_been_up_ ? loss::disconnected : loss::unreachable;
  return loss::none;
}

bool partner::hear(const message& what) {
  return std::visit([this](const auto& it) { return on(it); }, what);
}

bool partner::on(const say::hello&) {
  return false; // it has been said already
}

bool partner::on(const say::welcome& it) {
  if (is_greeted_)
    return false;
  greet(it.ports, true);
  return true;
}

bool partner::on(const say::want& it) {
  if (!is_greeted_)
    return false;
  if (granted_.contains(it.segment))
    return true;
  auto what = all_.notes.peers.find_shown(it.segment)
                ? all_.registered.of(it.segment) // which it is, since it was shown
                : failure(fault::gone);
  if (!what || granted_.size() >= all_.how.segments_max) {
    all_.notes.peers.refused_request(id);
    say(say::denied{it.segment});
    return true;
  }
  granted_.emplace(it.segment, *what);
  for (const auto& one : paths_)
    if (one->is_up())
      one->let(it.segment, *what);
  return true;
}

bool partner::on(const say::keys& it) {
  auto* over = path_of(it.of);
  if (!over || !wanted_.contains(it.segment))
    return false;
  auto known = all_.notes.peers.find(it.segment);
  return !known || over->hear(it, known->what);
}

bool partner::on(const say::denied& it) {
  auto at = wanted_.find(it.segment);
  if (at == wanted_.end())
    return false;
  at->second = asked::denied;
  can_go_on_ = true; // those who wait for it
  return true;
}

bool partner::on(const say::revoked& it) {
  wanted_.erase(it.segment);
  for (const auto& one : paths_)
    one->forget_keys(it.segment);
  return true;
}

bool partner::on(const say::ended& it) {
  auto* over = path_of(it.of);
  if (over && it.by_access)
    all_.notes.peers.refused_request(id);
  return over && over->hear(it);
}

template <class T>
  requires requires(T it) {
    it.of;
  }
bool partner::on(const T& it) {
  auto* over = path_of(it.of);
  return over && over->hear(it);
}

path* partner::path_of(say::path_life of) {
  return of.path < paths_.size() ? paths_[of.path].get() : nullptr;
}

void partner::revoke(segment_id which) {
  if (granted_.erase(which) == 0)
    return;
  for (const auto& one : paths_)
    one->revoke(which);
  say(say::revoked{which});
}

// -- paths ------------------------------------------------------------------------

void partner::can_go_on(path&) {
  can_go_on_ = true;
}

void partner::has_come_up(path& which) {
  for (const auto& [segment, what] : granted_)
    which.let(segment, what);
  stranded_since_.reset();
  can_go_on_ = true;
  if (!std::exchange(has_been_up_, true))
    all_.owner.is_up(id);
}

void partner::has_failed(path&) {
  if (!has_path() && !stranded_since_)
    stranded_since_ = std::chrono::steady_clock::now();
}

bool partner::has_path() const {
  return std::ranges::any_of(paths_, [](const auto& one) { return one->is_up(); });
}

void partner::port_has_failed(const device& which) {
  for (const auto& one : paths_)
    if (&one->from() == &which && one->is_up())
      one->fail();
}

bool partner::is_in_flight() const {
  return std::ranges::any_of(
    paths_, [](const auto& one) { return one->bytes_in_flight() > 0; });
}

bool partner::is_busy_with_time() const {
  return !is_greeted_ || stranded_since_
         || std::ranges::any_of(
           paths_, [](const auto& one) { return one->is_busy_with_time(); })
         || std::ranges::any_of(
           moves_, [](const auto& one) { return one.second->doomed().has_value(); });
}

void partner::set_rates(const rates& most) {
  turns_.set_rates(most);
  can_go_on_ = true;
}

void partner::look_at_clock(moment now) {
  if (turns_.take_wake(now))
    can_go_on_ = true;
  for (const auto& one : paths_)
    one->look_at_clock(now);
  for (const auto& [number, what] : moves_)
    if (what->doomed() && now - what->doomed_at() > all_.how.drain_limit)
      for (const auto& one : paths_)
        if (one->carries(*what))
          one->fail();
}

void partner::end(fault why) {
  for (const auto& [number, what] : std::map{moves_}) {
    what->doom(why);
    settle(what);
  }
  for (const auto& one : paths_)
    one->end();
  all_.notes.set_paths(id, {});
  paths_.clear();
  granted_.clear();
}

} // namespace perigee::transport::rdma
