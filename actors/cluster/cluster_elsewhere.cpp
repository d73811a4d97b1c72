#include "actors/cluster/cluster_state.hpp"
#include "schemas/convert.hpp"

#include <spdlog/logger.h>

namespace perigee::cluster {

void cluster_state::meet_others() {
  if (!how_.elsewhere)
    return;
  neighbours_.emplace(desk_, handle{self_}, roster_, *how_.elsewhere, log_, probe_,
                      told_of_others());
  neighbours_->begin();
  count();
}

neighbours::calls cluster_state::told_of_others() {
  auto tell_all = [this](const seat& of) {
    if (ending_)
      return;
    for_each_up([&](own_seat& one) { tell_of(one, of); });
    count();
  };
  return {.came = tell_all,
          .went = tell_all,
          .parts =
            [this](const seat& of) { // to all others it is who it was
              for_each_up([&](own_seat& one) {
                if (one.role() == schema::Role::CONDUCTOR)
                  tell_of(one, of);
              });
            },
          .apart
          = [this](auto who, auto other, bool apart) { tell_apart(who, other, apart); },
          .met =
            [this](const introducing_actor& there) {
              for_each_up([&](own_seat& one) { one.join(desk_, there); });
              if (parting_)
                neighbours_->part_from(there);
            },
          .fence
          = [this](node_index which, std::uint64_t life) { return fence(which, life); },
          .set_timer
          = [this](auto due, auto epoch) { wake_at(due, epoch, neighbours_timers); }};
}

/// Our own conductor, if there is one.
void cluster_state::tell_apart(node_index who, node_index other, bool apart) {
  bool is_there = false;
  for_each_up([&](const own_seat& one) {
    is_there = is_there || one.role() == schema::Role::CONDUCTOR;
  });
  if (!is_there)
    return;
  desk_.tell<schema::Apart>(conductor_name{desk_.me().node, 0}, rt::unprompted,
                            [&](schema::Apart::Builder news) {
                              news.setIndex(static_cast<std::uint32_t>(who));
                              news.setOther(static_cast<std::uint32_t>(other));
                              news.setApart(apart);
                            });
}

/// Has our own transfer actor, if there is one, see to it that nobody there reaches our
/// memory any more.
bool cluster_state::fence(node_index which, std::uint64_t life) {
  return desk_.tell<schema::Fence>(transfer_name{desk_.me().node, 0}, rt::unprompted,
                                   [&](schema::Fence::Builder wish) {
                                     wish.setIndex(static_cast<std::uint32_t>(which));
                                     wish.setLife(life);
                                   });
}

// -- what others say ----------------------------------------------------------

void cluster_state::on_found(const Msg<schema::Found>& said,
                             const receiving_actor& there) {
  if (neighbours_ && !ending_)
    neighbours_->on_found(said, there);
}

rt::reply<schema::Welcome> cluster_state::on_hello(const Msg<schema::Hello>& wish) {
  if (neighbours_ && !ending_)
    return neighbours_->on_hello(wish);
  return desk_.write<schema::Welcome>(wish, [&](schema::Welcome::Builder said) {
    said.setTurnedAway(ending_ ? "this node ends" : "this cluster has one node");
  });
}

void cluster_state::on_prove(const Msg<schema::Prove>& said,
                             const greeting_actor& greeter,
                             const introducing_actor& there) {
  if (neighbours_ && !ending_)
    neighbours_->on_prove(said, greeter, there);
}

void cluster_state::on_met(const Msg<schema::Met>& said,
                           const introducing_actor& there) {
  if (neighbours_ && !ending_)
    neighbours_->on_met(said, there);
}

template <class Handle>
void cluster_state::on_join(const Msg<schema::Join>& said, const Handle& who) {
  if (neighbours_ && !ending_)
    neighbours_->on_join(said, who);
}

template void cluster_state::on_join(const Msg<schema::Join>&, const gateway_actor&);
template void cluster_state::on_join(const Msg<schema::Join>&, const rejector_actor&);
template void cluster_state::on_join(const Msg<schema::Join>&, const conductor_actor&);
template void cluster_state::on_join(const Msg<schema::Join>&, const prefill_actor&);
template void cluster_state::on_join(const Msg<schema::Join>&, const decode_actor&);
template void cluster_state::on_join(const Msg<schema::Join>&, const coupled_actor&);
template void cluster_state::on_join(const Msg<schema::Join>&, const shard_actor&);
template void cluster_state::on_join(const Msg<schema::Join>&, const transfer_actor&);

void cluster_state::on_leave(const Msg<schema::Leave>& said) {
  if (neighbours_ && !ending_)
    neighbours_->on_leave(said);
}

void cluster_state::on_lost(const Msg<schema::Lost>& said) {
  if (neighbours_ && !ending_)
    neighbours_->on_lost(said);
}

void cluster_state::on_apart(const Msg<schema::Apart>& said) {
  if (neighbours_ && !ending_)
    neighbours_->on_apart(said);
}

void cluster_state::on_reached(const Msg<schema::Reached>& said) {
  if (neighbours_ && !ending_ && desk_.is_from(transfer_name{desk_.me().node, 0}, said))
    neighbours_->on_reached(said);
}

void cluster_state::on_fenced(const Msg<schema::Fenced>& said) {
  if (neighbours_ && !ending_ && desk_.is_from(transfer_name{desk_.me().node, 0}, said))
    neighbours_->on_fenced(node_index{said->getIndex()}, said->getLife());
}

} // namespace perigee::cluster
