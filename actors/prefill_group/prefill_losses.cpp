#include "actors/prefill_group/prefill_state.hpp"

namespace perigee::prefill {

template <class Is>
void prefill_state::end_all(End how, Is is) {
  for (auto& [request, one] : jobs_)
    if (one.plan && is(one))
      end(one, how);
}

void prefill_state::on_member(const Msg<schema::Member>& news) {
  if (!is_current(news, cluster_name{desk_.me().node, 0}))
    return;
  transfer_name own_mover{desk_.me().node, 0};
  auto is = [who = news->getWho()](const auto& one) {
    return who.getNode() == static_cast<std::uint32_t>(one.node)
           && who.getIndex() == one.index;
  };
  if (news->getUp()) {
    if (news->getRole() == schema::Role::CONDUCTOR)
      report(); // it knows nothing of us
    else if (news->getRole() == schema::Role::TRANSFER && is(own_mover))
      moves_.ask_again();
    return settle();
  }
  switch (news->getRole()) {
    case schema::Role::DECODE:
      for (auto& [request, one] : jobs_)
        if (one.plan && is(one.decode()))
          one.landed = true; // nobody wants to know
      end_all(End::ACTOR_LOST, [&](const job& one) {
        return is(one.decode()) && one.now != stage::handed_off;
      });
      end_all(End::NONE, [&](const job& one) { return is(one.decode()); });
      break;
    case schema::Role::GATEWAY:
      end_all(End::NONE, [&](const job& one) { return is(one.gateway()); });
      break;
    case schema::Role::SHARD:
      if (is(shard_name{desk_.me().node, 0}))
        pool_.lose();
      pins_.expire_if([&](auto request) { return is(jobs_.at(request).source()); });
      for (auto& [request, one] : jobs_)
        if (one.fetch_ticket != 0 && is(one.source()))
          moves_.abort(*one.plan, one.fetch_ticket);
      break;
    case schema::Role::TRANSFER:
      if (is(own_mover))
        moves_.lose(rt::actor_tag{news->getTag()});
      break;
    default: break;
  }
  settle();
}

} // namespace perigee::prefill
