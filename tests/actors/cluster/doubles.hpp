/// \file
/// Those whom a cluster starts in tests: they write down what they are told, and do no
/// more.
#pragma once

#include "actors/cluster/cluster.hpp"
#include "schemas/convert.hpp"

#include <map>

namespace perigee::cluster {

/// What all of them have heard.
struct notebook {
  /// "n0@1/prefill.0#1 heard up rejector.0#2"
  std::vector<std::string> lines;

  std::size_t count(const std::string& part) const {
    std::size_t found = 0;
    for (const auto& line : lines)
      found += line.find(part) != std::string::npos;
    return found;
  }

  /// Which line it is; lines.size() if none.
  std::size_t first(const std::string& part) const {
    std::size_t at = 0;
    while (at < lines.size() && lines[at].find(part) == std::string::npos)
      ++at;
    return at;
  }
};

/// Has `Role`'s interface, and hears `Ts`.
template <class Handle, schema::Role Role, class... Ts>
class listener {
public:
  using handle = Handle;
  static constexpr const char* name = "listener";

  listener(typename handle::pointer self, const rt::world& in,
           std::shared_ptr<notebook> notes)
    : desk_(self, in, name_of(Role)), notes_(std::move(notes)),
      me_(std::string{name_of(Role)} + '.' + std::to_string(in.where.index) + '#'
          + std::to_string(in.where.incarnation)) {}

  typename handle::behavior_type make_behavior() {
    return {desk_.on(this, &listener::template hear<Ts>)...};
  }

private:
  template <class T>
  void hear(const Msg<T>& said) {
    if constexpr (std::is_same_v<T, schema::Member>)
      notes_->lines.push_back(
        me_
        + (desk_.is_from(cluster_name{desk_.me().node, 0}, said) ? " heard "
                                                                 : " doubts ")
        + (said->getUp() ? "up " : "down ") + name_of(said->getRole()) + '.'
        + std::to_string(said->getWho().getIndex()) + '#'
        + std::to_string(said->getIncarnation()));
    if constexpr (std::is_same_v<T, schema::Apart>)
      notes_->lines.push_back(me_ + (said->getApart() ? " apart " : " together ")
                              + std::to_string(said->getIndex()) + '-'
                              + std::to_string(said->getOther()));
    if constexpr (std::is_same_v<T, schema::Drain>) {
      notes_->lines.push_back(me_ + " drains");
      desk_.template tell<schema::Drained>(
        cluster_name{}, said, [&](auto done) { set_name(done.initWho(), desk_.me()); });
    }
  }

  rt::desk<handle> desk_;
  std::shared_ptr<notebook> notes_;
  std::string me_;
};

using gateway_double
  = listener<gateway_actor, schema::Role::GATEWAY, schema::Submit, schema::Withdraw,
             schema::Placed, schema::PromptScores, schema::Tokens, schema::Cancelled,
             schema::Member, schema::Drain, schema::Due>;

using rejector_double
  = listener<rejector_actor, schema::Role::REJECTOR, schema::Arrive, schema::Cancel,
             schema::Book, schema::Member, schema::Due>;

using conductor_double
  = listener<conductor_actor, schema::Role::CONDUCTOR, schema::Place, schema::Cancel,
             schema::PrefillLoad, schema::DecodeLoad, schema::Stored, schema::Evicted,
             schema::Snapshot, schema::Member, schema::Apart, schema::Due,
             schema::Tick>;

using prefill_double
  = listener<prefill_actor, schema::Role::PREFILL, schema::Prefill, schema::Prompt,
             schema::Cancel, schema::Roomed, schema::HandedOff, schema::Pinned,
             schema::Reserved, schema::Moved, schema::Forwarded, schema::Member,
             schema::Due, schema::Tick>;

using engine_double = listener<engine_actor, schema::Role::ENGINE, schema::Forward,
                               schema::Interrupt, schema::Ran>;

/// Adds the seat of a `Double`.
template <class Double, schema::Role Role>
void add_seat(unit& to, const rt::world& in, std::uint32_t index,
              std::shared_ptr<notebook> notes) {
  using handle = typename Double::handle;
  to.seats.push_back(
    std::make_unique<seat_of<handle>>(Role, in, index, [in, notes](rt::place where) {
      return rt::spawn<Double>(in, where, notes);
    }));
}

} // namespace perigee::cluster
