#include "actors/conductor/conductor_state.hpp"
#include "actors/conductor/words.hpp"

#include <spdlog/logger.h>

namespace perigee::conductor {
namespace {

/// A shard's node; a node has one shard.
node_index node_of(schema::ActorName::Reader shard) {
  return node_index{shard.getNode()};
}

} // namespace

// -- who holds what -----------------------------------------------------------

void conductor_state::on_stored(const Msg<schema::Stored>& news) {
  auto shard = node_of(news->getShard());
  if (is_from_holder(news, shard))
    heed(shard, held_.stored(shard, news->getNumber(), to_tier(news->getTier()),
                             to_keys(news->getKeys()), desk_.now()));
}

void conductor_state::on_evicted(const Msg<schema::Evicted>& news) {
  auto shard = node_of(news->getShard());
  if (is_from_holder(news, shard))
    heed(shard, held_.evicted(shard, news->getNumber(), to_keys(news->getKeys()),
                              desk_.now()));
}

void conductor_state::on_snapshot(const Msg<schema::Snapshot>& news) {
  auto shard = node_of(news->getShard());
  if (!is_from_holder(news, shard))
    return;
  wait_for_recount(shard); // for what is still to come
  heed(shard, held_.recounted(
                shard, {news->getNumber(), news->getPart(), news->getLast()},
                to_tier(news->getTier()), to_keys(news->getKeys()), desk_.now()));
  if (!held_.awaits_recount(shard))
    recounts_.take(shard);
}

void conductor_state::heed(node_index shard, const holdings::outcome& what) {
  probe_->left_out(what.left_out);
  if (what.asks_recount)
    ask_for_recount(shard);
}

void conductor_state::ask_for_recount(node_index shard) {
  probe_->asked_for_recount();
  if (how_.coupled)
    desk_.tell<schema::Recount>(coupled_name{shard}, rt::unprompted, [](auto) {});
  else
    desk_.tell<schema::Recount>(shard_name{shard}, rt::unprompted, [](auto) {});
  wait_for_recount(shard);
}

void conductor_state::wait_for_recount(node_index shard) {
  recounts_.take(shard);
  if (!recounts_.put(shard, desk_.now() + how_.recount_limit, {}))
    log_->debug("recounts_full"); // its news will ask
}

void conductor_state::on_recount_late(node_index shard) {
  if (held_.asks_again(shard, desk_.now()))
    return ask_for_recount(shard);
  if (held_.awaits_recount(shard))
    log_->warn("shard_silent node={}", static_cast<unsigned>(shard));
}

// -- who is there -------------------------------------------------------------

void conductor_state::on_member(const Msg<schema::Member>& news) {
  auto who = news->getWho();
  switch (news->getRole()) {
    case schema::Role::PREFILL: return seat(to_name<prefill_name>(who), news->getUp());
    case schema::Role::DECODE: return seat(to_name<decode_name>(who), news->getUp());
    case schema::Role::COUPLED: return seat(to_name<coupled_name>(who), news->getUp());
    case schema::Role::SHARD: return seat_shard(node_of(who), news->getUp());
    case schema::Role::REJECTOR:
      if (news->getUp())
        publish(); // it begins without a copy
      return;
    default: return;
  }
}

void conductor_state::on_apart(const Msg<schema::Apart>& news) {
  if (is_current(news, cluster_name{desk_.me().node, 0}))
    apart_.set(node_index{news->getIndex()}, node_index{news->getOther()},
               news->getApart());
}

void conductor_state::seat(const prefill_name& who, bool up) {
  group_id group{who.node, who.index};
  lose(group);
  if (up)
    book_.seat(group, desk_.now());
  book_changed();
}

void conductor_state::seat(const decode_name& who, bool up) {
  instance_id instance{who.node, who.index};
  lose(instance);
  if (up)
    book_.seat(instance, desk_.now());
  book_changed();
}

/// It is a group, an instance, and a holder of prefixes.
void conductor_state::seat(const coupled_name& who, bool up) {
  seat(prefill_name{who.node, who.index}, up);
  seat(decode_name{who.node, who.index}, up);
  seat_shard(who.node, up);
}

void conductor_state::lose(const instance_id& instance) {
  probe_->lost(book_.lose(instance, desk_.now()));
}

void conductor_state::lose(const group_id& group) {
  probe_->lost(book_.lose(group, desk_.now()));
}

void conductor_state::seat_shard(node_index shard, bool up) {
  auto blocks = held_.lose(shard);
  if (blocks > 0)
    log_->info("shard_forgotten node={} blocks={}", static_cast<unsigned>(shard),
               blocks);
  recounts_.take(shard);
  if (!up)
    return;
  held_.seat(shard, desk_.now());
  ask_for_recount(shard);
}

} // namespace perigee::conductor
