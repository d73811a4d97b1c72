#include "actors/cluster/cluster_state.hpp"
#include "schemas/convert.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::cluster {

const char* name_of(schema::Role role) {
  switch (role) {
    case schema::Role::GATEWAY: return "gateway";
    case schema::Role::REJECTOR: return "rejector";
    case schema::Role::CONDUCTOR: return "conductor";
    case schema::Role::PREFILL: return "prefill";
    case schema::Role::DECODE: return "decode";
    case schema::Role::SHARD: return "shard";
    case schema::Role::TRANSFER: return "transfer";
    case schema::Role::ENGINE: return "engine";
    case schema::Role::CLUSTER: return "cluster";
    case schema::Role::COUPLED: return "coupled";
    case schema::Role::FABRIC: return "fabric";
  }
  return "unknown";
}

cluster_state::cluster_state(handle::pointer self, const rt::world& in,
                             rt::roster* roster, std::shared_ptr<units> all,
                             options how, std::shared_ptr<probe> counts)
  : self_(self), desk_(self, in, name), log_(in.log->clone(name)), system_(in.system),
    roster_(*roster), units_(std::move(*all)), how_(std::move(how)),
    probe_(std::move(counts)), plans_(units_.size(), respawn_plan{how_.respawns}),
    are_away_(units_.size(), false), disruptions_(how_.disruptions),
    timers_(
      units_.size() + own_timer_keys,
      [this](auto due, auto epoch) { wake_at(due, epoch, own_timers); },
      [this](auto key, auto) { on_timer(key); }) {
  roster_.clear(); // nobody watches who sat there under an earlier cluster
  take_seats({in.life, in.where.incarnation});
}

cluster_state::~cluster_state() {
  for (auto& one : units_)
    for (auto& each : one.seats)
      each->kill();
}

auto cluster_state::make_behavior() -> handle::behavior_type {
  std::vector<own_seat*> newcomers;
  for (std::size_t i = 0; i < units_.size(); ++i)
    start_unit(i, newcomers);
  introduce(newcomers);
  if (how_.refusals_every > nothing_at_all)
    look_at_refusals_later();
  disrupt();
  meet_others();
  return {
    desk_.on(this, &cluster_state::on_hello),
    desk_.on(this, &cluster_state::on_prove),
    desk_.on(this, &cluster_state::on_met),
    desk_.on(this, &cluster_state::on_join<gateway_actor>),
    desk_.on(this, &cluster_state::on_join<rejector_actor>),
    desk_.on(this, &cluster_state::on_join<conductor_actor>),
    desk_.on(this, &cluster_state::on_join<prefill_actor>),
    desk_.on(this, &cluster_state::on_join<decode_actor>),
    desk_.on(this, &cluster_state::on_join<coupled_actor>),
    desk_.on(this, &cluster_state::on_join<shard_actor>),
    desk_.on(this, &cluster_state::on_join<transfer_actor>),
    desk_.on(this, &cluster_state::on_leave),
    desk_.on(this, &cluster_state::on_parting),
    desk_.on(this, &cluster_state::on_lost),
    desk_.on(this, &cluster_state::on_apart),
    desk_.on(this, &cluster_state::on_found),
    desk_.on(this, &cluster_state::on_fenced),
    desk_.on(this, &cluster_state::on_reached),
    desk_.on(this, &cluster_state::on_drain),
    desk_.on(this, &cluster_state::on_drained),
    desk_.on(this, &cluster_state::on_tick),
    desk_.on(this, &cluster_state::on_describe),
  };
}

/// One on every node: its actors believe what is said in the name of their own.
void cluster_state::take_seats(const rt::term& which) {
  std::set<node_index> nodes{desk_.me().node};
  for (const auto& one : units_)
    for (const auto& each : one.seats)
      nodes.insert(each->node());
  for (auto node : nodes)
    roster_.seat(cluster_name{node, desk_.me().index},
                 {cluster_actor{handle{self_}}, which, desk_.tag()});
}

// -- starting ---------------------------------------------------------------

/// Adds to `newcomers` those who have a seat now.
void cluster_state::start_unit(std::size_t i, std::vector<own_seat*>& newcomers) {
  auto& one = units_[i];
  plans_[i].started(desk_.now());
  if (one.prepare)
    if (auto wrong = one.prepare()) {
      log_->warn("unit_not_started first={} why=\"{}\"", name_in_log(*one.seats[0]),
                 *wrong);
      return start_again_later(i);
    }
  for (auto& each : one.seats) {
    each->fill(desk_, roster_, [this, i, who = each.get()](const rt::error& why) {
      on_ended(i, *who, why);
    });
    if (each->is_up()) {
      newcomers.push_back(each.get());
      if (each->role() == schema::Role::SHARD && full_.contains(each->node()))
        tell_room(each->node());
    } else
      log_->error("roster_full actor={}", each->full_name());
  }
}

/// Tells everybody of the newcomers, and the newcomers of everybody: first of other nodes,
/// for whoever hears of a new transfer actor may ask it for what concerns them.
void cluster_state::introduce(const std::vector<own_seat*>& newcomers) {
  if (neighbours_)
    for (auto* one : newcomers)
      introduce_elsewhere(*one);
  const std::set<const own_seat*> are_new(newcomers.begin(), newcomers.end());
  for_each_up([&](own_seat& one) {
    for (const auto* other : newcomers)
      tell_of(one, *other);
    if (!are_new.contains(&one))
      for (auto* other : newcomers)
        tell_of(*other, one);
  });
  count();
}

void cluster_state::introduce_elsewhere(own_seat& newcomer) {
  if (newcomer.role() == schema::Role::CONDUCTOR)
    neighbours_->for_each_apart(
      [&](auto who, auto other) { tell_apart(who, other, true); });
  neighbours_->for_each_seat([&](const seat& other) {
    if (other.is_up())
      tell_of(newcomer, other);
  });
  neighbours_->for_each_met(
    [&](const introducing_actor& there) { newcomer.join(desk_, there); });
}

/// Who places hears nothing of a node that is to end, or that it is gone.
void cluster_state::tell_of(own_seat& whom, const seat& of) {
  bool is_for_placing = whom.role() != schema::Role::CONDUCTOR || !neighbours_
                        || !neighbours_->is_parting(of.node());
  whom.tell_of(desk_, of, of.is_up() && is_for_placing);
}

// -- ending -----------------------------------------------------------------

void cluster_state::on_ended(std::size_t i, own_seat& who, const rt::error& why) {
  if (who.is_up()) { // by itself, not because we killed it
    probe_->lost();
    if (!ending_)
      log_->warn("actor_lost name={} why=\"{}\"", who.full_name(), to_string(why));
    clear(who);
    if (who.role() == schema::Role::GATEWAY)
      forget_to_drain({who.node(), who.index()});
  }
  auto& mates = units_[i].seats;
  for (auto& mate : mates)
    if (mate->is_up()) {
      clear(*mate);
      mate->kill();
    }
  count();
  bool all_ended = std::none_of(mates.begin(), mates.end(),
                                [](const auto& mate) { return mate->is_occupied(); });
  if (all_ended && !ending_ && !are_away_[i])
    start_again_later(i);
  end_if_alone();
}

/// Takes the seat from `who`, and tells everybody else.
void cluster_state::clear(own_seat& who) {
  who.clear(roster_);
  if (ending_)
    return;
  for_each_up([&](own_seat& one) { tell_of(one, who); });
  if (!neighbours_)
    return;
  neighbours_->tell_left(who);
  if (who.role() == schema::Role::TRANSFER)
    neighbours_->on_no_fence();
}

void cluster_state::start_again_later(std::size_t i) {
  auto wait = plans_[i].ended(desk_.now());
  if (!wait) {
    probe_->gave_up();
    return log_->error("unit_given_up first={}", name_in_log(*units_[i].seats[0]));
  }
  bool is_free = timers_.put(i, desk_.now() + *wait, {});
  PERIGEE_ASSERT(is_free, "there is room for every unit");
}

void cluster_state::start_again(const std::vector<std::size_t>& which) {
  std::vector<own_seat*> newcomers;
  for (auto i : which)
    start_unit(i, newcomers);
  for (const auto* one : newcomers) {
    probe_->respawned();
    log_->info("actor_respawned name={}", one->full_name());
  }
  introduce(newcomers);
}

// -- draining ---------------------------------------------------------------

void cluster_state::on_drain(const Msg<schema::Drain>& wish) {
  if (draining_)
    return;
  draining_ = true;
  count();
  for_each_up([&](own_seat& one) {
    if (one.role() != schema::Role::GATEWAY)
      return;
    gateway_name gateway{one.node(), one.index()};
    if (desk_.tell<schema::Drain>(gateway, wish, [](auto) {}))
      undrained_.insert(gateway);
  });
  log_->info("draining gateways={}", undrained_.size());
  if (undrained_.empty())
    return neighbours_ ? part() : end_all();
  bool is_free = timers_.put(drain_is_over, desk_.now() + how_.drain_limit, {});
  PERIGEE_ASSERT(is_free, "there is room for this one");
}

void cluster_state::on_drained(const Msg<schema::Drained>& said) {
  auto gateway = to_name<gateway_name>(said->getWho());
  if (desk_.is_from(gateway, said))
    forget_to_drain(gateway);
}

/// It holds no open request any more.
void cluster_state::forget_to_drain(const gateway_name& gateway) {
  if (undrained_.erase(gateway) == 0 || !undrained_.empty() || ending_)
    return;
  log_->info("drained");
  timers_.take(drain_is_over);
  end_all();
}

void cluster_state::end_all() {
  ending_ = true;
  for (auto& one : units_)
    for (auto& each : one.seats) {
      if (each->is_up())
        each->clear(roster_);
      each->kill();
    }
  end_if_alone();
}

void cluster_state::end_if_alone() {
  bool alone = true;
  for (const auto& one : units_)
    for (const auto& each : one.seats)
      alone = alone && !each->is_occupied();
  if (ending_ && alone) {
    roster_.clear();
    self_->quit();
  }
}

// -- timers -----------------------------------------------------------------

void cluster_state::wake_at(std::chrono::nanoseconds due, std::uint64_t epoch,
                            timer_of whose) {
  desk_.tell_after<schema::Tick>(
    handle{self_}, due - desk_.now(), rt::unprompted,
    [&](auto timer) { timer.setEpoch(epoch * timer_owners + whose); });
}

void cluster_state::on_tick(const Msg<schema::Tick>& timer) {
  auto epoch = timer->getEpoch() / timer_owners;
  switch (timer->getEpoch() % timer_owners) {
    case own_timers: timers_.on_timer(epoch, desk_.now()); break;
    case neighbours_timers:
      if (neighbours_ && !ending_)
        neighbours_->on_timer(epoch);
      break;
  }
}

void cluster_state::on_timer(timer_key key) {
  if (ending_)
    return;
  if (key == look_at_refusals)
    return log_refusals();
  if (key == next_disruption)
    return disrupt();
  if (key == look_whether_idle)
    return end_if_idle();
  if (key < units_.size())
    return start_again({key});
  log_->warn("drain_limit_reached gateways={}", undrained_.size());
  end_all();
}

// -- looking ----------------------------------------------------------------

void cluster_state::look_at_refusals_later() {
  bool is_free = timers_.put(look_at_refusals, desk_.now() + how_.refusals_every, {});
  PERIGEE_ASSERT(is_free, "there is room for this one");
}

void cluster_state::log_refusals() {
  std::map<std::string, std::pair<std::uint64_t, std::string>> grown;
  rt::refused_by(system_).each([&](auto type, auto total, auto reason) {
    auto& logged = refusals_logged_[std::string{type}];
    if (total > logged)
      grown[std::string{type}] = {logged = total, std::string{reason}};
  });
  for (const auto& [type, seen] : grown)
    log_->warn("messages_refused type=\"{}\" total={} last_reason=\"{}\"", type,
               seen.first, seen.second);
  look_at_refusals_later();
}

rt::reply<schema::Description>
cluster_state::on_describe(const Msg<schema::Describe>& wish) {
  auto now = census();
  return desk_.write<schema::Description>(
    wish, [&](schema::Description::Builder described) {
      described.setReady(is_ready());
      described.setUp(static_cast<std::uint32_t>(now.up));
      described.setDown(static_cast<std::uint32_t>(now.down));
      described.setRespawned(probe_->respawns());
    });
}

/// Of every role that there is, somebody is up.
bool cluster_state::is_ready() const {
  std::map<schema::Role, bool> roles;
  for (const auto& one : units_)
    for (const auto& each : one.seats)
      roles[each->role()] = roles[each->role()] || each->is_up();
  return !draining_ && !roles.empty()
         && (!how_.elsewhere || (neighbours_ && neighbours_->has_roles_needed()))
         && std::all_of(roles.begin(), roles.end(),
                        [](const auto& role) { return role.second; });
}

cluster_state::seat_counts cluster_state::census() const {
  seat_counts now;
  for (const auto& one : units_)
    for (const auto& each : one.seats)
      ++(each->is_up() ? now.up : now.down);
  return now;
}

void cluster_state::count() {
  auto now = census();
  probe_->seated(now.up, now.down, is_ready());
}

std::string cluster_state::name_in_log(const own_seat& one) {
  return one.full_name().empty() ? name_of(one.role()) : one.full_name();
}

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  return text("respawns_max", how.respawns.attempts_max)
         + text(" drain_limit_ns", how.drain_limit.count())
         + text(" idle_for_ns", how.idle_for.count())
         + text(" refusals_every_ns", how.refusals_every.count())
         + text(" disruptions", how.disruptions.size());
}

cluster_actor start(const rt::world& in, rt::place where, rt::roster& roster, units all,
                    options how, std::shared_ptr<probe> counts) {
  auto as_text = rt::arguments{to_string(how)};
  return rt::spawn<cluster_state>(in, where, std::move(as_text), &roster,
                                  std::make_shared<units>(std::move(all)),
                                  std::move(how), std::move(counts));
}

} // namespace perigee::cluster
