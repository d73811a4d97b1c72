/// \file
/// seat: who is known under a name in this process, an actor of its own or of another
/// node.
#pragma once

#include "actors/cluster/introductions.hpp"
#include "actors/runtime/desk.hpp"

#include <string>

namespace perigee::cluster {

/// As in full names: "prefill" in "n0@3/prefill.2#1".
const char* name_of(schema::Role role);

/// One seat, filled by one incarnation after another. Used by the cluster's actor
/// alone.
class seat {
public:
  using desk = rt::desk<node_actor>;

  virtual ~seat() = default;

  schema::Role role() const {
    return role_;
  }
  node_index node() const {
    return node_;
  }
  std::uint32_t index() const {
    return index_;
  }
  const rt::term& which() const {
    return which_;
  }
  rt::actor_tag tag() const {
    return tag_;
  }

  /// Whether its actor can be found under its name.
  bool is_up() const {
    return is_up_;
  }

  /// "n0@3/prefill.2#1".
  const std::string& full_name() const {
    return full_name_;
  }

  /// Takes the seat from whoever has it.
  virtual void clear(rt::roster& roster) = 0;

protected:
  seat(schema::Role role, node_index node, std::uint32_t index)
    : role_(role), node_(node), index_(index) {}

  schema::Role role_;
  node_index node_;
  std::uint32_t index_;
  rt::term which_;
  rt::actor_tag tag_{};
  std::string full_name_;
  bool is_up_ = false;
};

/// That of an actor of another node.
template <class Handle>
class seat_elsewhere final : public seat {
public:
  /// Gives `who` the seat. It is not up if the roster has no room.
  seat_elsewhere(schema::Role role, const rt::name<Handle>& where,
                 const std::string& node_name, const rt::term& which, const Handle& who,
                 rt::roster& roster)
    : seat(role, where.node, where.index) {
    which_ = which;
    full_name_ = rt::full_name(node_name, which.life, name_of(role),
                               {where.index, which.incarnation});
    tag_ = rt::tag_of(full_name_);
    is_up_ = roster.seat(where, {who, which_, tag_});
  }

  void clear(rt::roster& roster) override {
    roster.vacate(rt::name<Handle>{node_, index_}, which_);
    is_up_ = false;
  }
};

} // namespace perigee::cluster
