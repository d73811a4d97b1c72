#include "actors/transfer/transfer.hpp"

#include "actors/transfer/transfer_state.hpp"
#include "transport/inline_local.hpp"
#include "transport/local.hpp"

#include <spdlog/logger.h>

#include <cmath>

namespace perigee::transfer {

transfer_state::transfer_state(handle::pointer self, const rt::world& in,
                               shared_memory memory, const make_paths& make,
                               options how, std::shared_ptr<probe> counts)
  : self_(self), desk_(self, in, name), memory_(std::move(memory)),
    how_(std::move(how)), probe_(std::move(counts)),
    deadlines_(
      open_most(), [this](auto due, auto epoch) { wake_at(due, epoch, of_deadlines); },
      [this](number one, auto) { stop(one, fault::timed_out); }),
    trips_(desk_, handle{self}, how_.links,
           [this](number one, auto what) { submit(one, std::move(what)); }),
    quiesces_(how_.movements_max), doors_(in),
    paths_(make(memory_, [this](std::string_view way) { return ear(way); })),
    lines_(
      desk_, paths_, how_.lines, memory_.segments, in.log->clone(name), probe_,
      {.draw = how_.draw,
       .more = [this] { try_parked(); },
       .clear = [this](node_index node) { on_clear(node); },
       .settled = [this](node_index node) { on_settled(node); },
       .reached = [this](node_index node, auto what) { tell_reached(node, what); },
       .is_idle = [this](node_index node) { return is_idle_with(node); },
       .set_timer = [this](auto due, auto epoch) { wake_at(due, epoch, of_lines); }}) {}

transfer_state::handle::behavior_type transfer_state::make_behavior() {
  return {
    desk_.on(this, &transfer_state::on_fetch),
    desk_.on(this, &transfer_state::on_push),
    desk_.on(this, &transfer_state::on_abort),
    desk_.on(this, &transfer_state::on_quiesce),
    desk_.on(this, &transfer_state::on_done),
    desk_.on(this, &transfer_state::on_flowed),
    desk_.on(this, &transfer_state::on_dial),
    desk_.on(this, &transfer_state::on_dialed),
    desk_.on(this, &transfer_state::on_shown),
    desk_.on(this, &transfer_state::on_line_changed),
    desk_.on(this, &transfer_state::on_fence),
    desk_.on(this, &transfer_state::on_member),
    desk_.on(this, &transfer_state::on_due),
  };
}

// -- beginning --------------------------------------------------------------

void transfer_state::on_fetch(const Msg<schema::Fetch>& wish) {
  take(wish);
}

void transfer_state::on_push(const Msg<schema::Push>& wish) {
  take(wish);
}

template <class T>
void transfer_state::take(const Msg<T>& wish) {
  auto who = asker_of(wish);
  wish_key key{rt::actor_tag{wish->getHeader().getSender()}, wish->getTicket()};
  if (!who || by_key_.contains(key))
    return probe_->dropped_stale();
  movement one{*who, key, wish, desk_.now()};
  if constexpr (std::is_same_v<T, schema::Push>)
    note_again(one, wish);
  if (open_.size() >= (one.is_torn ? open_most() : how_.movements_max))
    return answer(one, fault::busy);
  auto what = to_move(wish->getWhat(), here());
  if (!what && !may_come(what.error()) && !one.is_torn)
    return answer(one, what.error());
  auto limit = limit_of(wish->getWhat());
  one.ends_at = desk_.now() + limit;
  auto mine = ++numbers_;
  open_.emplace(mine, one);
  by_key_.emplace(key, mine);
  bool there_is_room = deadlines_.put(mine, one.ends_at, {});
  PERIGEE_ASSERT(there_is_room, "a deadline for every open movement");
  probe_->began(open_.size());
  if (!what)
    return park_or_end(mine, what.error());
  what->limit = limit;
  auto way = std::is_same_v<T, schema::Push> ? link_way::storing : link_way::loading;
  if (!trips_.begin(mine, *what, way, wish, here()))
    submit(mine, std::move(*what));
}

/// The asker that `wish` names, if that is who sent it.
template <class T>
std::optional<transfer_state::asker> transfer_state::asker_of(const Msg<T>& wish) {
  std::optional<asker> found;
  with_asker(wish->getAsker(), [&]<class Name>(Name who) {
    if constexpr (!std::is_same_v<Name, shard_name>) // moves nothing
      if (desk_.is_from(who, wish))
        found = who;
  });
  return found;
}

std::chrono::nanoseconds transfer_state::limit_of(schema::Movement::Reader said) const {
  nanoseconds most{said.getAwaitGate() == 0 ? how_.limit : how_.gated_limit};
  auto remaining = said.getRemainingNs();
  if (remaining == 0 || remaining >= static_cast<std::uint64_t>(most.count()))
    return most;
  return nanoseconds{remaining};
}

void transfer_state::submit(number mine, transport::move what) {
  auto& one = open_.at(mine);
  const auto* far = far_end_of(what);
  auto* door = far ? &doors_.at(paths_.ways[far->way].name) : &doors_.own();
  one.by = far ? paths_.ways[far->way].by.get() : paths_.within.get();
  one.way = far ? std::optional{far->way} : std::nullopt;
  one.writes_to
    = far && lines_.known().contains(what.to) ? std::optional{far->node} : std::nullopt;
  auto told = [door, to = handle{self_}, why = one.why()](transport::move_id which,
                                                          const auto& came) {
    door->tell<schema::Done>(to, why, [&](schema::Done::Builder done) {
      done.setNumber(static_cast<number>(which));
      done.setFault(came ? schema::MoveFault::NONE : to_schema(came.error()));
      done.setBytes(came ? *came : 0);
    });
  };
  auto said = one.by->submit(transport::move_id{mine}, std::move(what), told);
  if (said)
    return;
  one.writes_to.reset(); // nothing has begun
  end_or_park(mine, to_schema(said.error()));
}

// -- modelled links -----------------------------------------------------------

void transfer_state::on_flowed(const Msg<schema::Flowed>& said) {
  if (!how_.links.fabric || !desk_.is_from(*how_.links.fabric, said))
    return probe_->dropped_stale();
  if (said->getBusy() && open_.contains(said->getNumber()))
    return stop(said->getNumber(), fault::busy);
  trips_.on_flowed(*said);
}

/// From ourselves: without a number to look at the link; else that movement has come
/// a step further.
void transfer_state::on_timer(schema::Done::Reader timer) {
  auto which = timer.getNumber();
  if (which == 0)
    return trips_.on_link_timer(timer.getBytes());
  auto at = open_.find(which);
  if (at != open_.end() && at->second.bytes > 0)
    return end(which, schema::MoveFault::NONE, at->second.bytes);
  trips_.arrive(which);
}

// -- ending -----------------------------------------------------------------

void transfer_state::on_done(const Msg<schema::Done>& done) {
  rt::actor_tag from{done->getHeader().getSender()};
  if (from == desk_.tag())
    return on_timer(*done);
  auto at = open_.find(done->getNumber());
  if (!doors_.has(from) || at == open_.end())
    return probe_->dropped_stale();
  auto last_layer = trips_.take_last_layer(at->first);
  bool is_done = done->getFault() == schema::MoveFault::NONE && done->getBytes() > 0;
  if (!is_done && at->second.by != paths_.within.get())
    return end_or_park(done->getNumber(), done->getFault());
  if (!is_done || last_layer.count() == 0)
    return end(done->getNumber(), done->getFault(), done->getBytes());
  at->second.bytes = done->getBytes();
  desk_.tell_after<schema::Done>(handle{self_}, last_layer, rt::unprompted,
                                 [=](auto later) { later.setNumber(at->first); });
}

void transfer_state::end(number mine, schema::MoveFault why, std::uint64_t bytes) {
  auto at = open_.find(mine);
  if (at->second.is_torn) {
    at->second.by = nullptr;
    at->second.ends_with = why;
    parked_.erase(mine);
    return;
  }
  auto one = std::move(at->second);
  open_.erase(at);
  by_key_.erase(one.key);
  deadlines_.take(mine);
  trips_.forget(mine);
  parked_.erase(mine);
  answer(one, why, bytes);
  answer_quiesces(one.key.first);
}

void transfer_state::end(number mine, fault why) {
  end(mine, to_schema(why), 0);
}

void transfer_state::answer(const movement& one, fault why) {
  answer(one, to_schema(why), 0);
}

/// An asker that is gone needs no answer.
void transfer_state::answer(const movement& one, schema::MoveFault why,
                            std::uint64_t bytes) {
  probe_->ended(why, bytes, open_.size());
  if (one.way && why == schema::MoveFault::NONE)
    probe_->census().moved(paths_.ways[*one.way].name, bytes);
  auto fill = [&](schema::Moved::Builder moved) {
    moved.setTicket(one.key.second);
    moved.setFault(why);
    moved.setBytes(bytes);
    moved.setDurationNs(static_cast<std::uint64_t>((desk_.now() - one.began).count()));
  };
  std::visit(
    [&](const auto& whom) { desk_.tell<schema::Moved>(whom, one.why(), fill); },
    one.who);
}

/// Has one ended, and told of that, before its time.
void transfer_state::stop(number mine, fault why) {
  auto& one = open_.at(mine);
  if (one.ends_with)
    return;
  if (one.by) {
    one.stopped = why;
    return one.by->abort(transport::move_id{mine}, why);
  }
  trips_.call_off(mine);
  end(mine, why);
}

void transfer_state::on_abort(const Msg<schema::Abort>& wish) {
  if (!asker_of(wish))
    return probe_->dropped_stale();
  auto at
    = by_key_.find({rt::actor_tag{wish->getHeader().getSender()}, wish->getTicket()});
  if (at != by_key_.end()) // else it has ended, and was answered
    stop(at->second, fault::aborted);
}

void transfer_state::on_due(const Msg<schema::Due>& timer) {
  auto epoch = timer->getEpoch() / timer_owners;
  switch (timer->getEpoch() % timer_owners) {
    case of_deadlines: deadlines_.on_timer(epoch, desk_.now()); break;
    case of_lines: lines_.on_timer(epoch); break;
  }
}

void transfer_state::wake_at(nanoseconds due, std::uint64_t epoch, timer_of whose) {
  desk_.tell_after<schema::Due>(
    handle{self_}, due - desk_.now(), rt::unprompted,
    [&](auto timer) { timer.setEpoch(epoch * timer_owners + whose); });
}

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  auto rate
    = [&](const char* key, double value) { return text(key, std::llround(value)); };
  const auto& links = how.links;
  return text("movements_max", how.movements_max) + text(" limit_ms", how.limit.count())
         + text(" gated_limit_ms", how.gated_limit.count())
         + rate(" load_bytes_per_s", links.load_bytes_per_s)
         + rate(" store_bytes_per_s", links.store_bytes_per_s)
         + text(" latency_ns", links.latency.count())
         + text(" has_fabric", links.fabric.has_value())
         + rate(" port_bytes_per_s", links.port_bytes_per_s);
}

paths local_path(const shared_memory& memory, const news_of&) {
  return {.within = std::make_unique<transport::local>(*memory.segments)};
}

paths inline_path(const shared_memory& memory, const news_of&) {
  return {.within = std::make_unique<transport::inline_local>(*memory.segments)};
}

transfer_actor start(const rt::world& in, rt::place where, shared_memory memory,
                     make_paths make, options how, std::shared_ptr<probe> counts) {
  return rt::spawn<transfer_state>(in, where, rt::arguments{to_string(how)},
                                   std::move(memory), std::move(make), how,
                                   std::move(counts));
}

} // namespace perigee::transfer
