#include "actors/decode_instance/decode_state.hpp"

#include <spdlog/logger.h>

namespace perigee::decode {

void decode_state::on_member(const Msg<schema::Member>& news) {
  if (!is_current(news, cluster_name{desk_.me().node, 0}))
    return;
  auto is = [who = news->getWho()](const auto& one) {
    return who.getNode() == static_cast<std::uint32_t>(one.node)
           && who.getIndex() == one.index;
  };
  if (news->getUp()) {
    if (news->getRole() == schema::Role::CONDUCTOR)
      report(); // it knows nothing of us
    return settle();
  }
  switch (news->getRole()) {
    case schema::Role::PREFILL:
      lose_writer(rt::actor_tag{news->getTag()}, to_name<prefill_name>(news->getWho()));
      break;
    case schema::Role::GATEWAY:
      for (auto& [request, one] : guests_)
        if (is(one.gateway))
          end(one, End::NONE);
      break;
    case schema::Role::SHARD:
      if (is(shard_name{desk_.me().node, 0}))
        lose_shard();
      break;
    case schema::Role::TRANSFER:
      if (is(transfer_name{desk_.me().node, 0}))
        moves_.lose(rt::actor_tag{news->getTag()});
      break;
    default: break;
  }
  settle();
}

/// What it wrote here isn't whole, and its movements may not be over.
void decode_state::lose_writer(rt::actor_tag writer, const prefill_name& whom) {
  bool writes = false;
  for (auto& [request, one] : guests_) {
    bool is_its
      = one.writer == writer || (one.now == stage::expected && one.prefill == whom);
    if (!is_its || one.landed)
      continue;
    writes = writes || one.was_given;
    end(one, one.is_accepted() ? End::ACTOR_LOST : End::NONE);
  }
  if (writes && !lost_.add(writer, whom.node))
    log_->error("lost_writers_full");
}

void decode_state::on_quiesced(const Msg<schema::Quiesced>& said) {
  if (!lost_.took(said))
    return probe_->dropped_stale();
  settle();
}

/// Nobody writes for it any more.
void decode_state::forget_writer(rt::actor_tag writer) {
  for (auto& [request, one] : guests_)
    if (one.writer == writer) {
      one.landed = true;
      touched_.insert(request);
    }
}

/// What was parked there is lost.
void decode_state::lose_shard() {
  pool_.lose();
  for (auto& [request, one] : guests_)
    if (std::exchange(one.kept, std::nullopt))
      end(one, End::ACTOR_LOST);
}

} // namespace perigee::decode
