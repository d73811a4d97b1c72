#include "actors/cluster/neighbours.hpp"
#include "schemas/convert.hpp"

#include <spdlog/logger.h>

namespace perigee::cluster {

template <class Handle>
void neighbours::on_join(const Msg<schema::Join>& said, const Handle& who) {
  auto* one = find(said->getWho().getNode());
  if (!one || one->now != state::met || !who || one->life != said->getLife()
      || !is_from(*one, said->getHeader()))
    return probe_->dropped_stale();
  auto at = to_name<rt::name<Handle>>(said->getWho());
  auto& chair = one->seats[{said->getRole(), at.index}];
  if (chair && chair->is_up()) { // its Leave comes before: we have not understood
    chair->clear(roster_);
    told_.went(*chair);
  }
  chair = std::make_unique<seat_elsewhere<Handle>>(
    said->getRole(), at, name(at.node),
    rt::term{said->getLife(), said->getIncarnation()}, who, roster_);
  if (!chair->is_up())
    return log_->error("roster_full actor={}", chair->full_name());
  told_.came(*chair);
  if (said->getRole() == schema::Role::CONDUCTOR)
    tell_all_apart(*one);
}

template void neighbours::on_join(const Msg<schema::Join>&, const gateway_actor&);
template void neighbours::on_join(const Msg<schema::Join>&, const rejector_actor&);
template void neighbours::on_join(const Msg<schema::Join>&, const conductor_actor&);
template void neighbours::on_join(const Msg<schema::Join>&, const prefill_actor&);
template void neighbours::on_join(const Msg<schema::Join>&, const decode_actor&);
template void neighbours::on_join(const Msg<schema::Join>&, const coupled_actor&);
template void neighbours::on_join(const Msg<schema::Join>&, const shard_actor&);
template void neighbours::on_join(const Msg<schema::Join>&, const transfer_actor&);

void neighbours::on_leave(const Msg<schema::Leave>& said) {
  auto* one = find(said->getWho().getNode());
  if (!one || one->now != state::met || !is_from(*one, said->getHeader()))
    return probe_->dropped_stale();
  auto at = one->seats.find({said->getRole(), said->getWho().getIndex()});
  if (at == one->seats.end()
      || at->second->which() != rt::term{said->getLife(), said->getIncarnation()})
    return probe_->dropped_stale();
  auto left = std::move(at->second);
  one->seats.erase(at);
  if (!left->is_up())
    return;
  left->clear(roster_);
  told_.went(*left);
}

void neighbours::tell_left(const seat& own) {
  for_each_met([&](const introducing_actor& there) {
    desk_.tell<schema::Leave>(there, rt::unprompted, [&](schema::Leave::Builder news) {
      news.setRole(own.role());
      news.initWho().setNode(static_cast<std::uint32_t>(own.node()));
      news.getWho().setIndex(own.index());
      news.setLife(own.which().life);
      news.setIncarnation(own.which().incarnation);
    });
  });
}

// -- parting ------------------------------------------------------------------

void neighbours::part() {
  for_each_met([&](const introducing_actor& there) { part_from(there); });
}

void neighbours::part_from(const introducing_actor& there) {
  desk_.tell<schema::Parting>(
    there, rt::unprompted, [&](schema::Parting::Builder news) {
      news.setIndex(static_cast<std::uint32_t>(how_.card.index));
      news.setLife(how_.card.life);
    });
}

void neighbours::on_parting(const Msg<schema::Parting>& said) {
  auto* one = find_met(*said);
  if (!one || std::exchange(one->is_parting, true))
    return; // it says so again
  log_->info("node_parting node={} life={}", name(node_index{said->getIndex()}),
             one->life);
  for (const auto& [where, who] : one->seats)
    if (who->is_up())
      told_.parts(*who);
}

bool neighbours::is_parting(node_index node) const {
  auto at = all_.find(node);
  return at != all_.end() && at->second.is_parting;
}

// -- apart --------------------------------------------------------------------

/// Whether KV, or words, do not get from here to there.
bool neighbours::is_apart(const neighbour& one) {
  return one.now != state::met || !one.is_reached;
}

void neighbours::on_reached(const Msg<schema::Reached>& said) {
  auto* one = find(said->getIndex());
  if (!one || one->now != state::met)
    return probe_->dropped_stale();
  node_index whom{said->getIndex()};
  if (said->getHow() == schema::Reached::How::UNHEARD)
    return part_company(whom, "its transfer actor does not answer");
  bool is_reached = said->getHow() == schema::Reached::How::WELL;
  if (std::exchange(one->is_reached, is_reached) == is_reached)
    return;
  if (is_reached)
    log_->info("node_reached node={}", name(whom));
  else
    log_->warn("node_not_reached node={} why=\"no line for KV could be made\"",
               name(whom));
  tell_apart(whom);
}

/// Those who place requests, here and elsewhere.
void neighbours::tell_apart(node_index whom) {
  bool apart = is_apart(all_.at(whom));
  told_.apart(how_.card.index, whom, apart);
  for (const auto& [index, one] : all_)
    if (one.now == state::met && one.seats.contains({schema::Role::CONDUCTOR, 0}))
      say_apart(one.there, whom, apart);
}

/// One of those, which is new. What has changed since there was one, too.
void neighbours::tell_all_apart(const neighbour& listener) {
  for (const auto& [whom, one] : all_)
    say_apart(listener.there, whom, is_apart(one));
}

void neighbours::say_apart(const introducing_actor& listener, node_index whom,
                           bool apart) {
  desk_.tell<schema::Apart>(listener, rt::unprompted, [&](schema::Apart::Builder news) {
    news.setIndex(static_cast<std::uint32_t>(how_.card.index));
    news.setOther(static_cast<std::uint32_t>(whom));
    news.setApart(apart);
  });
}

void neighbours::on_apart(const Msg<schema::Apart>& said) {
  auto* one = find(said->getIndex());
  node_index other{said->getOther()};
  if (!one || one->now != state::met || !is_from(*one, said->getHeader())
      || (!find(said->getOther()) && other != how_.card.index))
    return probe_->dropped_stale();
  if (said->getApart())
    one->apart_from.insert(other);
  else
    one->apart_from.erase(other);
  told_.apart(node_index{said->getIndex()}, other, said->getApart());
}

/// Of who is apart from whom.
void neighbours::forget_what_it_said(node_index whom) {
  for (auto other : std::exchange(all_.at(whom).apart_from, {}))
    told_.apart(whom, other, false);
}

} // namespace perigee::cluster
