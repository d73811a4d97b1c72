/// \file
/// unit: actors that live and die together, and the seats that they have in the
/// cluster.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/desk.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace perigee::cluster {

/// As in full names: "prefill" in "n0@3/prefill.2#1".
const char* name_of(schema::Role role);

/// One seat, filled by one incarnation after another. Used by the cluster's actor
/// alone.
class seat {
public:
  using desk = rt::desk<cluster_actor>;

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

  /// Whether an actor that was started has not ended yet.
  bool is_occupied() const {
    return is_occupied_;
  }

  /// "n0@3/prefill.2#1".
  const std::string& full_name() const {
    return full_name_;
  }

  /// Starts the next incarnation and gives it the seat; calls `ended` once it has
  /// ended.
  virtual void fill(desk& by, rt::roster& roster,
                    std::function<void(const rt::error&)> ended)
    = 0;

  /// Takes the seat from whoever has it.
  virtual void clear(rt::roster& roster) = 0;

  /// Ends whoever had it last.
  virtual void kill() = 0;

  /// Tells its actor of `other`. Those who need not know are told nothing.
  virtual void tell_of(desk& by, const seat& other) = 0;

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
  bool is_occupied_ = false;
};

/// The seat of a role whose actors `begin(place)` starts, in the world `in`.
template <class Handle>
class seat_of final : public seat {
public:
  using start = std::function<Handle(rt::place)>;

  seat_of(schema::Role role, const rt::world& in, std::uint32_t index, start begin)
    : seat(role, in.index, index), node_name_(in.node), begin_(std::move(begin)) {
    which_.life = in.life;
  }

  void fill(desk& by, rt::roster& roster,
            std::function<void(const rt::error&)> ended) override {
    const rt::place where{index_, ++which_.incarnation};
    full_name_ = rt::full_name(node_name_, which_.life, name_of(role_), where);
    tag_ = rt::tag_of(full_name_);
    actor_ = begin_(where);
    is_occupied_ = true;
    is_up_ = roster.seat(name(), {actor_, which_, tag_});
    by.on_end_of(actor_, [this, ended](const rt::error& why) {
      is_occupied_ = false;
      actor_ = nullptr;
      ended(why);
    });
  }

  void clear(rt::roster& roster) override {
    roster.vacate(name(), which_);
    is_up_ = false;
  }

  void kill() override {
    if (actor_)
      rt::kill(actor_);
  }

  void tell_of(desk& by, const seat& other) override {
    if constexpr (!std::is_same_v<Handle, engine_actor>)
      by.tell<schema::Member>(name(), rt::unprompted, [&](auto news) {
        news.setRole(other.role());
        news.initWho().setNode(static_cast<std::uint32_t>(other.node()));
        news.getWho().setIndex(other.index());
        news.setLife(other.which().life);
        news.setIncarnation(other.which().incarnation);
        news.setTag(static_cast<std::uint64_t>(other.tag()));
        news.setUp(other.is_up());
      });
  }

private:
  rt::name<Handle> name() const {
    return {node_, index_};
  }

  std::string node_name_;
  start begin_;
  Handle actor_;
};

/// Actors that are started together, and all ended when one of them has ended: an
/// engine's host and the owner of the engine. Most units have one actor.
struct unit {
  std::vector<std::unique_ptr<seat>> seats;

  /// Makes what its actors share, anew: an engine with a fresh arena. What went wrong,
  /// if it cannot. May be empty.
  std::function<std::optional<std::string>()> prepare;
};

using units = std::vector<unit>;

} // namespace perigee::cluster
