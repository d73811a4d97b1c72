/// \file
/// movements: what one actor has its node's transfer actor move, and is not answered
/// yet.
#pragma once

#include "actors/asker.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/tag_under.hpp"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace perigee {

/// Blocks that are to be moved: see schemas/movement.capnp.
struct move_order {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> targets;
  std::uint64_t await_gate = 0;
  std::uint64_t open_gate = 0;
  schema::Priority priority = schema::Priority::FIRST_TOKEN;
  std::chrono::nanoseconds limit{};
  std::optional<node_index> elsewhere{}; ///< The other node that a push writes to.
};

/// Part of the state of an actor that owns an arena. The transfer actor ends every
/// movement within its limit, so there is no other deadline here.
///
/// One that has died can't say what is still being written on another node: pushes to
/// there are asked again of its successor, which can.
template <class Handle>
class movements {
public:
  /// With the movement's ticket. May begin further ones.
  using then = std::function<void(std::uint64_t, schema::MoveFault)>;

  /// Tickets follow upon `tickets`, which others may draw from, too.
  movements(rt::desk<Handle>& desk, const rt::roster& roster, std::uint64_t& tickets)
    : desk_(desk), roster_(roster), tickets_(tickets) {}

  /// Begins one. Later calls `then`, once no memory is touched on its account any more.
  /// Returns its ticket; 0, and `then` is not called, if nobody is there to carry it
  /// out.
  std::uint64_t push(const rt::cause& why, const move_order& what, then told) {
    return begin<schema::Push>(why, what, std::move(told));
  }
  std::uint64_t fetch(const rt::cause& why, const move_order& what, then told) {
    return begin<schema::Fetch>(why, what, std::move(told));
  }

  /// Ends one early. It still is answered.
  void abort(const rt::cause& why, std::uint64_t ticket) {
    auto at = open_.find(ticket);
    if (at == open_.end())
      return;
    at->second.is_aborted = true;
    desk_.template tell<schema::Abort>(mover(), why, [&](schema::Abort::Builder wish) {
      set_asker(wish.initAsker(), desk_.me());
      wish.setTicket(ticket);
    });
  }

  /// False if it answers none that is open, or is from somebody else.
  bool took(const Msg<schema::Moved>& said) {
    auto at = open_.find(said->getTicket());
    if (at == open_.end() || !desk_.is_from(mover(), said))
      return false;
    end(at, said->getFault());
    return true;
  }

  /// The transfer actor `whom` has ended, and with it all that wrote here. What another
  /// one was asked, though the news of it is still to come, goes on.
  void lose(rt::actor_tag whom) {
    auto all = std::exchange(open_, {}); // what they begin now is for its successor
    for (auto& [ticket, one] : all) {
      one.is_orphan = one.is_orphan || one.asked_of == whom;
      if (one.is_orphan && !one.what.elsewhere)
        one.told(ticket, schema::MoveFault::BROKEN);
      else
        open_.emplace(ticket, std::move(one));
    }
  }

  /// There is a successor.
  void ask_again() {
    for (auto& [ticket, one] : open_)
      if (one.is_orphan && tell<schema::Push>(ticket, one, true)) {
        one.is_orphan = false;
        if (one.is_aborted)
          abort(one.why, ticket);
      }
  }

  std::size_t size() const {
    return open_.size();
  }

private:
  struct movement {
    rt::cause why;
    move_order what;
    then told;
    rt::actor_tag asked_of{};
    bool is_aborted = false;
    bool is_orphan = false; ///< Who was asked has ended.
  };
  using table = std::map<std::uint64_t, movement>;

  transfer_name mover() const {
    return {desk_.me().node, 0};
  }

  void end(typename table::iterator at, schema::MoveFault fault) {
    auto ticket = at->first;
    auto told = std::move(at->second.told);
    open_.erase(at);
    told(ticket, fault);
  }

  template <class T>
  std::uint64_t begin(const rt::cause& why, const move_order& what, then told) {
    auto ticket = ++tickets_;
    movement one{why, what, std::move(told)};
    if (!tell<T>(ticket, one, false))
      return 0;
    open_.emplace(ticket, std::move(one));
    return ticket;
  }

  /// False if nobody is there.
  template <class T>
  bool tell(std::uint64_t ticket, movement& one, bool again) {
    auto there = rt::tag_under(roster_, mover());
    if (!there)
      return false;
    one.asked_of = *there; // if that one leaves now, it counts as asked, and lost
    return desk_.template tell<T>(mover(), one.why, [&](typename T::Builder wish) {
      set_asker(wish.initAsker(), desk_.me());
      wish.setTicket(ticket);
      set_movement(wish.initWhat(), one.what);
      if constexpr (std::is_same_v<T, schema::Push>)
        if (again) {
          wish.setAgain(true);
          wish.setToNode(static_cast<std::uint32_t>(*one.what.elsewhere));
        }
    });
  }

  static void set_movement(schema::Movement::Builder to, const move_order& what) {
    to.setFrom(what.from);
    to.setTo(what.to);
    auto sources = to.initSources(static_cast<unsigned>(what.sources.size()));
    auto targets = to.initTargets(static_cast<unsigned>(what.targets.size()));
    for (unsigned i = 0; i < sources.size(); ++i) {
      sources.set(i, what.sources[i]);
      targets.set(i, what.targets[i]);
    }
    to.setAwaitGate(what.await_gate);
    to.setOpenGate(what.open_gate);
    to.setPriority(what.priority);
    to.setRemainingNs(static_cast<std::uint64_t>(what.limit.count()));
  }

  rt::desk<Handle>& desk_;
  const rt::roster& roster_;
  std::uint64_t& tickets_;
  table open_;
};

} // namespace perigee
