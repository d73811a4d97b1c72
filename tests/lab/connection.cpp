#include "tests/lab/connection.hpp"

#include "actors/cluster/introductions.hpp"

#include <caf/actor_proxy.hpp>
#include <caf/detail/sync_request_bouncer.hpp>

namespace perigee::test {

using namespace std::chrono_literals;

/// Who is at the other end, as somebody here knows it.
class connection::far_actor final : public caf::actor_proxy {
public:
  far_actor(caf::actor_config& how, std::weak_ptr<connection> over, side here,
            caf::actor_id whom)
    : actor_proxy(how), over_(std::move(over)), here_(here), whom_(whom) {}

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    auto over = over_.lock();
    if (over && !over->ends_[here_].is_closed)
      return over->send(here_, whom_, *what);
    caf::detail::sync_request_bouncer bounce{
      caf::make_error(caf::sec::request_receiver_down)};
    bounce(*what);
  }

  void kill_proxy(caf::execution_unit* by, caf::error why) override {
    cleanup(std::move(why), by);
  }

private:
  const std::weak_ptr<connection> over_;
  const side here_;
  const caf::actor_id whom_;
};

connection::connection(fleet& all, const std::shared_ptr<process>& from,
                       const std::shared_ptr<process>& to)
  : all_(all) {
  ends_[dialer].home = from;
  ends_[dialed].home = to;
}

caf::strong_actor_ptr connection::found(const caf::strong_actor_ptr& whom) {
  return proxy(dialer, show(dialed, whom));
}

connection::side connection::side_of(const process& one) const {
  return ends_[dialer].home.lock().get() == &one ? dialer : dialed;
}

// -- what is said -------------------------------------------------------------

void connection::send(side from, caf::actor_id to, caf::mailbox_element& what) {
  auto content = pack(from, what.move_content_to_message());
  auto sender = what.sender && what.mid.is_request() ? show(from, what.sender) : 0;
  post(other(from), [=, id = what.mid, at = other(from)](connection& over) {
    over.deliver(at, to, sender, id, content);
  });
}

/// In order: a later message never comes sooner.
void connection::post(side to, std::function<void(connection&)> what) {
  auto& there = ends_[to];
  there.last_due = std::max(there.last_due, all_.now() + all_.between(20us, 400us));
  all_.at(there.last_due, [weak = weak_from_this(), to, what = std::move(what)] {
    auto over = weak.lock();
    auto home = over ? over->ends_[to].home.lock() : nullptr;
    if (!home)
      return;
    home->hear([weak, to, what] {
      if (auto line = weak.lock(); line && !line->ends_[to].is_closed)
        what(*line);
    });
  });
}

void connection::deliver(side at, caf::actor_id to, caf::actor_id sender,
                         caf::message_id id, const unpacked& content) {
  auto whom = ends_[at].shown.find(to);
  if (whom == ends_[at].shown.end())
    return; // it has ended, and that is on its way
  auto by = sender != 0 ? proxy(at, sender) : nullptr;
  whom->second->enqueue(
    caf::make_mailbox_element(std::move(by), id, {}, content(*this, at)), nullptr);
}

// -- handles beside messages --------------------------------------------------

template <class T, class... Handles, std::size_t... Is>
connection::unpacked connection::pack_as(side from, const caf::message& what,
                                         std::index_sequence<Is...>) {
  std::array<caf::actor_id, sizeof...(Is)> whom{
    show(from, rt::erase_type(what.get_as<Handles>(Is + 1)))...};
  return [msg = what.get_as<Msg<T>>(0), whom](connection& over, side at) {
    return caf::make_message(msg,
                             rt::restore_type<Handles>(over.proxy(at, whom[Is]))...);
  };
}

template <class T, class... Handles>
bool connection::try_pack(side from, const caf::message& what, unpacked& into) {
  if (!what.match_elements<Msg<T>, Handles...>())
    return false;
  into = pack_as<T, Handles...>(from, what, std::index_sequence_for<Handles...>{});
  return true;
}

template <class... Handles>
bool connection::try_pack_join(side from, const caf::message& what, unpacked& into) {
  return (try_pack<schema::Join, Handles>(from, what, into) || ...);
}

connection::unpacked connection::pack(side from, const caf::message& what) {
  unpacked into;
  if (try_pack<schema::Prove, greeting_actor, introducing_actor>(from, what, into)
      || try_pack<schema::Met, introducing_actor>(from, what, into)
      || try_pack_join<gateway_actor, rejector_actor, conductor_actor, prefill_actor,
                       decode_actor, coupled_actor, shard_actor, transfer_actor>(
        from, what, into))
    return into;
  return [what](connection&, side) { return what; };
}

/// Lets the other end know `whom`, of this one; and when it has ended.
caf::actor_id connection::show(side from, const caf::strong_actor_ptr& whom) {
  auto id = whom->id();
  if (!ends_[from].shown.emplace(id, whom).second)
    return id;
  whom->get()->attach_functor(
    [weak = weak_from_this(), from, id](const caf::error& why) {
      auto over = weak.lock();
      if (!over || over->ends_[from].shown.erase(id) == 0)
        return;
      over->post(other(from), [id, at = other(from), why](connection& line) {
        if (auto gone = line.ends_[at].known.extract(id))
          caf::actor_cast<caf::actor_proxy*>(gone.mapped())->kill_proxy(nullptr, why);
      });
    });
  return id;
}

caf::strong_actor_ptr connection::proxy(side at, caf::actor_id whom) {
  auto& one = ends_[at].known[whom];
  auto home = ends_[at].home.lock();
  if (!one && home) {
    caf::actor_config how;
    auto& system = home->system();
    one = caf::make_actor<far_actor, caf::strong_actor_ptr>(
      system.next_actor_id(), system.node(), &system, how, weak_from_this(), at, whom);
  }
  return one;
}

// -- ends ---------------------------------------------------------------------

void connection::give_up(side at) {
  if (ends_[at].is_closed)
    return;
  close(at);
  post(other(at), [there = other(at)](connection& over) { over.close(there); });
}

void connection::kill(side at) {
  auto& here = ends_[at];
  here.shown.clear();
  here.known.clear(); // who watches them is killed, too
  if (!std::exchange(here.is_closed, true))
    post(other(at), [there = other(at)](connection& over) { over.close(there); });
}

void connection::close(side at) {
  auto& here = ends_[at];
  here.is_closed = true;
  here.shown.clear();
  for (const auto& [id, who] : std::exchange(here.known, {}))
    caf::actor_cast<caf::actor_proxy*>(who)->kill_proxy(
      nullptr, caf::make_error(caf::exit_reason::remote_link_unreachable));
}

} // namespace perigee::test
