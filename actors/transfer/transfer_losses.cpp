#include "actors/transfer/transfer_state.hpp"

namespace perigee::transfer {

// -- those who are gone -----------------------------------------------------

void transfer_state::on_member(const Msg<schema::Member>& news) {
  if (!desk_.is_from(cluster_name{desk_.me().node, 0}, news))
    return probe_->dropped_stale();
  if (!news->getUp())
    stop_all_of(rt::actor_tag{news->getTag()});
  else if (how_.links.fabric && news->getRole() == schema::Role::FABRIC)
    trips_.on_new_fabric();
  lines_.on_member(news);
  try_parked();
}

void transfer_state::stop_all_of(rt::actor_tag asker_tag) {
  std::vector<number> theirs; // first: stopping one changes the table
  for (auto at = by_key_.lower_bound({asker_tag, 0});
       at != by_key_.end() && at->first.first == asker_tag; ++at)
    theirs.push_back(at->second);
  for (auto one : theirs)
    stop(one, fault::aborted);
}

bool transfer_state::has_any_of(rt::actor_tag asker_tag) const {
  auto at = by_key_.lower_bound({asker_tag, 0});
  return at != by_key_.end() && at->first.first == asker_tag;
}

void transfer_state::on_quiesce(const Msg<schema::Quiesce>& wish) {
  std::optional<decltype(quiesce::who)> who;
  with_asker(wish->getAsker(), [&]<class Name>(Name owner) {
    if constexpr (!std::is_same_v<Name, prefill_name>) // nobody writes into its arena
      if (desk_.is_from(owner, wish))
        who = owner;
  });
  if (!who)
    return probe_->dropped_stale();
  rt::actor_tag writer{wish->getWriter()};
  node_index where{wish->getNode()};
  if (!quiesces_.join({*who, wish->getTicket(), wish, writer, where}))
    return; // it asks again
  if (where != desk_.me().node)
    return answer_quiesces_for(where);
  stop_all_of(writer);
  answer_quiesces(writer);
}

/// Of another node's writers, of whom our own memory is to be safe.
void transfer_state::answer_quiesces_for(node_index where) {
  if (lines_.is_clear_of(where))
    answer(quiesces_.take_of(where));
}

void transfer_state::answer_quiesces(rt::actor_tag writer) {
  if (has_any_of(writer))
    return;
  answer(quiesces_.take(writer, desk_.me().node));
}

void transfer_state::answer(const std::vector<quiesce>& quiet) {
  for (const auto& one : quiet)
    std::visit(
      [&](const auto& who) {
        desk_.tell<schema::Quiesced>(who, one.why,
                                     [&](auto said) { said.setTicket(one.ticket); });
      },
      one.who);
}

} // namespace perigee::transfer
