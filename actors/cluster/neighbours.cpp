#include "actors/cluster/neighbours.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <cstring>

namespace perigee::cluster {
namespace {

capnp::Data::Reader data_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const capnp::byte*>(bytes.data()), bytes.size()};
}

proof proof_of(capnp::Data::Reader said) {
  const auto* bytes = reinterpret_cast<const std::byte*>(said.begin());
  return {bytes, bytes + said.size()};
}

std::optional<challenge> challenge_of(capnp::Data::Reader said) {
  challenge given;
  if (said.size() != given.size())
    return std::nullopt;
  std::memcpy(given.data(), said.begin(), given.size());
  return given;
}

rt::actor_tag tag_of_cluster(schema::NodeCard::Reader who) {
  return rt::tag_of(rt::full_name({who.getNode().cStr(), who.getNode().size()},
                                  who.getLife(), name_of(schema::Role::CLUSTER), {}));
}

} // namespace

neighbours::neighbours(desk& by, node_actor self, rt::roster& roster, neighbourhood how,
                       std::shared_ptr<spdlog::logger> log,
                       std::shared_ptr<probe> counts, calls told)
  : desk_(by), self_(std::move(self)), roster_(roster), how_(std::move(how)),
    log_(std::move(log)), probe_(std::move(counts)), told_(std::move(told)),
    waits_(
      how_.nodes.size(), [this](auto due, auto epoch) { told_.set_timer(due, epoch); },
      [this](auto whom, auto acquaintance) {
        auto& one = all_.at(whom);
        if (one.acquaintance != acquaintance)
          return;
        if (one.now == state::fencing)
          lose(whom, "nobody says that it is fenced");
        else
          give_up(whom, "it does not answer in time");
      }) {
  for (std::uint32_t i = 0; i < how_.nodes.size(); ++i)
    if (node_index{i} != how_.card.index)
      all_.try_emplace(node_index{i});
}

void neighbours::begin() {
  for (auto whom : how_.dials)
    how_.list->wish(whom, false);
  count();
}

// -- as who connects ----------------------------------------------------------

void neighbours::on_found(const Msg<schema::Found>& said,
                          const receiving_actor& there) {
  auto* one = find(said->getIndex());
  if (one && there && one->now == state::away)
    say_hello(node_index{said->getIndex()}, there);
}

void neighbours::say_hello(node_index whom, const receiving_actor& there) {
  expect(whom, state::greeting);
  auto given = how_.credential->draw();
  auto acquaintance = all_.at(whom).acquaintance;
  desk_
    .ask<schema::Hello>(there, how_.limit, rt::unprompted,
                        [&](schema::Hello::Builder hello) {
                          write(hello.initWho(), how_.card);
                          hello.setChallenge(data_of(given));
                        })
    .then(
      [=, this](const Msg<schema::Welcome>& said) {
        if (all_.at(whom).acquaintance == acquaintance)
          on_welcome(whom, there, given, *said);
      },
      [=, this](const rt::error& why) {
        if (all_.at(whom).acquaintance == acquaintance)
          give_up(whom, to_string(why));
      });
}

void neighbours::on_welcome(node_index whom, const receiving_actor& there,
                            const challenge& given, schema::Welcome::Reader said) {
  if (auto wrong = fault_of(whom, given, said))
    return give_up(whom, *wrong);
  auto who = said.getMet().getWho();
  auto& one = all_.at(whom);
  one.life = who.getLife();
  one.tag = tag_of_cluster(who);
  auto proved
    = how_.credential->sign(oath(*challenge_of(said.getMet().getChallenge()),
                                 how_.card.node, how_.card.life, name(whom), one.life));
  desk_.tell<schema::Prove>(
    there, rt::unprompted,
    [&](schema::Prove::Builder news) {
      news.setIndex(static_cast<std::uint32_t>(how_.card.index));
      news.setLife(how_.card.life);
      news.setProof(data_of(proved));
    },
    greeting_actor{self_}, introducing_actor{self_});
}

std::optional<std::string> neighbours::fault_of(node_index whom, const challenge& given,
                                                schema::Welcome::Reader said) {
  if (said.isTurnedAway())
    return "it turns us away: " + cluster::said(said.getTurnedAway());
  auto met = said.getMet();
  auto who = met.getWho();
  if (auto wrong = misfit(how_.card, who, name(whom)))
    return wrong;
  if (who.getIndex() != static_cast<std::uint32_t>(whom)
      || !challenge_of(met.getChallenge()))
    return std::string{"its Welcome is not one"};
  if (who.getLife() < all_.at(whom).life)
    return std::string{"a later life of it has been here"};
  if (!how_.credential->verify(
        whom, oath(given, name(whom), who.getLife(), how_.card.node, how_.card.life),
        proof_of(met.getProof())))
    return std::string{"it does not prove its name"};
  return std::nullopt;
}

void neighbours::on_met(const Msg<schema::Met>& said, const introducing_actor& there) {
  auto* one = find(said->getIndex());
  if (!one || one->now != state::greeting || one->life != said->getLife() || !there
      || !is_from(*one, said->getHeader()))
    return probe_->dropped_stale();
  is_met(node_index{said->getIndex()}, there);
}

// -- as who is connected to ---------------------------------------------------

Msg<schema::Welcome> neighbours::on_hello(const Msg<schema::Hello>& wish) {
  auto who = wish->getWho();
  auto turn_away = [&](const std::string& why) {
    probe_->turned_away();
    if (auto* one = find(who.getIndex()); one && one->last_complaint != why)
      complain(node_index{who.getIndex()},
               "turned away: " + (one->last_complaint = why));
    return desk_.write<schema::Welcome>(wish,
                                        [&](auto said) { said.setTurnedAway(why); });
  };
  auto* one = find(who.getIndex());
  auto at = node_index{who.getIndex()};
  if (auto wrong = misfit(how_.card, who, one ? name(at) : ""))
    return turn_away(*wrong);
  auto given = challenge_of(wish->getChallenge());
  if (!one || !given)
    return turn_away("that is no Hello");
  if (who.getLife() < one->life)
    return turn_away("a later life of this node has been here");
  if (one->now == state::fencing)
    return turn_away("its last connection is not cleared away yet");
  if (one->now != state::met)
    expect(at, state::received);
  one->claimed = {who.getLife(), tag_of_cluster(who), how_.credential->draw(), {}, {}};
  auto proved = how_.credential->sign(
    oath(*given, how_.card.node, how_.card.life, name(at), who.getLife()));
  return desk_.write<schema::Welcome>(wish, [&](schema::Welcome::Builder said) {
    auto met = said.initMet();
    write(met.initWho(), how_.card);
    met.setChallenge(data_of(one->claimed->given));
    met.setProof(data_of(proved));
  });
}

void neighbours::on_prove(const Msg<schema::Prove>& said, const greeting_actor& greeter,
                          const introducing_actor& there) {
  auto* one = find(said->getIndex());
  bool is_awaited = one && (one->now == state::received || one->now == state::met);
  if (!is_awaited || !one->claimed || one->claimed->life != said->getLife() || !greeter
      || !there || rt::actor_tag{said->getHeader().getSender()} != one->claimed->tag)
    return probe_->dropped_stale();
  auto whom = node_index{said->getIndex()};
  auto& claimed = *one->claimed;
  auto sworn
    = oath(claimed.given, name(whom), claimed.life, how_.card.node, how_.card.life);
  if (!how_.credential->verify(whom, sworn, proof_of(said->getProof()))) {
    probe_->turned_away();
    one->claimed.reset();
    if (one->now == state::received)
      give_up(whom, "it does not prove its name");
    return;
  }
  claimed.greeter = greeter;
  claimed.there = there;
  if (one->now == state::met) // it is met anew when the last connection is cleared away
    return lose(whom, claimed.life > one->life ? "it has begun a new life"
                                               : "it has lost us");
  meet_claimed(whom);
}

void neighbours::meet_claimed(node_index whom) {
  auto& one = all_.at(whom);
  auto claimed = *std::exchange(one.claimed, {});
  one.life = claimed.life;
  one.tag = claimed.tag;
  desk_.tell<schema::Met>(
    claimed.greeter, rt::unprompted,
    [&](schema::Met::Builder news) {
      news.setIndex(static_cast<std::uint32_t>(how_.card.index));
      news.setLife(how_.card.life);
    },
    introducing_actor{self_});
  is_met(whom, claimed.there);
}

// -- as either ----------------------------------------------------------------

void neighbours::is_met(node_index whom, const introducing_actor& there) {
  auto& one = all_.at(whom);
  one.now = state::met;
  one.there = there;
  one.is_parting = false;
  one.is_reached = true;
  one.last_complaint.clear();
  waits_.take(whom);
  auto acquaintance = one.acquaintance;
  desk_.on_end_of(there, [=, this](const rt::error& why) {
    if (all_.at(whom).acquaintance == acquaintance)
      lose(whom, to_string(why));
  });
  log_->info("node_met node={} life={}", name(whom), one.life);
  count();
  tell_apart(whom);
  told_.met(there);
}

// -- losing -------------------------------------------------------------------

/// Also, once more, of who is being fenced.
void neighbours::lose(node_index whom, const std::string& why) {
  auto& one = all_.at(whom);
  bool was_met = one.now == state::met;
  if (was_met)
    probe_->lost_node();
  if (was_met && one.is_parting)
    log_->info("node_left node={} life={}", name(whom), one.life);
  else if (was_met || one.last_complaint != why)
    log_->warn("node_lost node={} life={} why=\"{}\"", name(whom), one.life, why);
  one.last_complaint = why;
  one.there = nullptr;
  expect(whom, state::fencing);
  if (was_met) {
    tell_apart(whom);
    forget_what_it_said(whom);
  }
  clear(one, false);
  if (!told_.fence(whom, one.life))
    finish_fence(whom);
  count();
}

/// It may not know, for its connection is as good as ever.
void neighbours::part_company(node_index whom, const std::string& why) {
  auto there = all_.at(whom).there;
  desk_.tell<schema::Lost>(there, rt::unprompted, [&](schema::Lost::Builder news) {
    news.setIndex(static_cast<std::uint32_t>(how_.card.index));
    news.setLife(how_.card.life);
  });
  lose(whom, why);
}

void neighbours::on_lost(const Msg<schema::Lost>& said) {
  if (find_met(*said))
    lose(node_index{said->getIndex()}, "it takes us for gone");
}

void neighbours::on_fenced(node_index which, std::uint64_t life) {
  auto at = all_.find(which);
  if (at != all_.end() && at->second.now == state::fencing && at->second.life == life)
    finish_fence(which);
}

void neighbours::on_no_fence() {
  for (const auto& [whom, one] : all_)
    if (one.now == state::fencing)
      finish_fence(whom);
}

void neighbours::finish_fence(node_index whom) {
  auto& one = all_.at(whom);
  clear(one, true);
  one.seats.clear();
  if (one.claimed && one.claimed->there)
    return meet_claimed(whom);
  give_up(whom, {});
}

/// Its actors have their seats no longer; its transfer actor's turn is last.
void neighbours::clear(neighbour& of, bool movers_too) {
  for (auto& [where, who] : of.seats)
    if (who->is_up() && (movers_too || who->role() != schema::Role::TRANSFER)) {
      who->clear(roster_);
      told_.went(*who);
    }
}

/// Whoever it was, the next connection begins at the beginning.
void neighbours::give_up(node_index whom, const std::string& why) {
  auto& one = all_.at(whom);
  one.now = state::away;
  one.claimed.reset();
  ++one.acquaintance;
  waits_.take(whom);
  if (!why.empty() && one.last_complaint != why)
    complain(whom, one.last_complaint = why);
  if (dials(whom))
    how_.list->wish(whom, true);
  count();
}

void neighbours::on_timer(std::uint64_t epoch) {
  waits_.on_timer(epoch, desk_.now());
}

// -- looking ------------------------------------------------------------------

void neighbours::expect(node_index whom, state next) {
  auto& one = all_.at(whom);
  one.now = next;
  ++one.acquaintance;
  waits_.take(whom);
  bool kept = waits_.put(whom, desk_.now() + how_.limit, one.acquaintance);
  PERIGEE_ASSERT(kept, "there is room for every node");
}

neighbours::neighbour* neighbours::find(std::uint32_t index) {
  auto at = all_.find(node_index{index});
  return at == all_.end() ? nullptr : &at->second;
}

bool neighbours::dials(node_index whom) const {
  return std::ranges::find(how_.dials, whom) != how_.dials.end();
}

bool neighbours::is_from(const neighbour& one, schema::Header::Reader header) const {
  return rt::actor_tag{header.getSender()} == one.tag;
}

std::string neighbours::name(node_index of) const {
  return how_.nodes[static_cast<std::size_t>(of)];
}

void neighbours::complain(node_index of, const std::string& why) {
  log_->warn("node_not_met node={} why=\"{}\"", name(of), why);
}

bool neighbours::has_roles_needed() const {
  return std::ranges::all_of(how_.roles_needed, [&](auto role) {
    bool is_there = false;
    for_each_seat([&](const seat& who) {
      is_there |= who.role() == role && who.is_up() && !is_parting(who.node());
    });
    return is_there;
  });
}

std::size_t neighbours::met() const {
  std::size_t met = 0;
  for_each_met([&](const auto&) { ++met; });
  return met;
}

void neighbours::count() {
  probe_->knows(met(), all_.size());
}

} // namespace perigee::cluster
