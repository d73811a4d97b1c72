/// \file
/// lost_writers: who has ended while bytes of theirs may still be on their way into an
/// actor's arena.
#pragma once

#include "actors/asker.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"

#include <functional>
#include <set>

namespace perigee {

/// Part of the state of an actor that owns an arena. The transfer actor of a lost
/// writer's node knows when its movements are over: it is asked again and again, and so
/// is the one that takes its place, until there is an answer. Of another node, one's own
/// is asked after that, or in its place while nobody is there: whether all that the
/// other had on its way has come to an end here.
template <class Handle>
class lost_writers {
public:
  /// Nobody writes for `writer` any more.
  using then = std::function<void(rt::actor_tag writer)>;

  using set_timer
    = std::function<void(std::chrono::nanoseconds due, std::uint64_t epoch)>;

  /// Tickets follow upon `tickets`, which others may draw from, too.
  lost_writers(rt::desk<Handle>& desk, std::uint64_t& tickets, std::size_t writers_max,
               std::chrono::nanoseconds answer_limit, set_timer set, then over)
    : desk_(desk), tickets_(tickets), writers_max_(writers_max),
      answer_limit_(answer_limit), over_(std::move(over)),
      asked_(writers_max, std::move(set),
             [this](auto, const writer& one) { ask(one); }) {}
  lost_writers(const lost_writers&) = delete;
  lost_writers& operator=(const lost_writers&) = delete;

  /// Has the movements ended that `where` carries out for `whom`. To say so twice
  /// changes nothing. False if there are too many.
  [[nodiscard]] bool add(rt::actor_tag whom, node_index where) {
    if (known_.contains(whom))
      return true;
    if (known_.size() >= writers_max_)
      return false;
    known_.insert(whom);
    ask({whom, where});
    return true;
  }

  bool contains(rt::actor_tag whom) const {
    return known_.contains(whom);
  }

  /// False if it answers nothing that is open, or is from somebody else.
  bool took(const Msg<schema::Quiesced>& said) {
    const auto* found = asked_.find(said->getTicket());
    if (!found || !desk_.is_from(transfer_name{found->asked, 0}, said))
      return false;
    auto one = *asked_.take(said->getTicket());
    if (one.asked != desk_.me().node) {
      ask_own(one);
      return true;
    }
    known_.erase(one.tag);
    over_(one.tag);
    return true;
  }

  void on_timer(std::uint64_t epoch) {
    asked_.on_timer(epoch, desk_.now());
  }

  /// Those whose movements may not be over.
  std::size_t size() const {
    return known_.size();
  }

private:
  struct writer {
    rt::actor_tag tag;
    node_index where;
    node_index asked = where; ///< Whose transfer actor is to answer.
  };

  void ask(writer one) {
    one.asked = one.where;
    if (!put(one) && one.where != desk_.me().node)
      ask_own(one);
  }

  void ask_own(writer one) {
    one.asked = desk_.me().node;
    put(one);
  }

  /// False if nobody is there now. Somebody will be when we ask again.
  bool put(const writer& one) {
    auto ticket = ++tickets_;
    auto wish_to = [&](schema::Quiesce::Builder wish) {
      set_asker(wish.initAsker(), desk_.me());
      wish.setTicket(ticket);
      wish.setWriter(static_cast<std::uint64_t>(one.tag));
      wish.setNode(static_cast<std::uint32_t>(one.where));
    };
    bool is_there = desk_.template tell<schema::Quiesce>(transfer_name{one.asked, 0},
                                                         rt::unprompted, wish_to);
    if (!is_there && one.asked != desk_.me().node)
      return false;
    bool kept = asked_.put(ticket, desk_.now() + answer_limit_, one);
    PERIGEE_ASSERT(kept, "one question for each writer");
    return is_there;
  }

  rt::desk<Handle>& desk_;
  std::uint64_t& tickets_;
  std::size_t writers_max_;
  std::chrono::nanoseconds answer_limit_;
  then over_;
  std::set<rt::actor_tag> known_;
  rt::pending_table<std::uint64_t, writer> asked_; // by ticket
};

} // namespace perigee
