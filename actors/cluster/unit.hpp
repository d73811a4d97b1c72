/// \file
/// unit: actors that live and die together, and the seats that they have in the
/// cluster.
#pragma once

#include "actors/cluster/seat.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace perigee::cluster {

/// That of an actor of this process.
class own_seat : public seat {
public:
  /// Whether an actor that was started has not ended yet.
  bool is_occupied() const {
    return is_occupied_;
  }

  /// Starts the next incarnation and gives it the seat; calls `ended` once it has
  /// ended.
  virtual void fill(desk& by, rt::roster& roster,
                    std::function<void(const rt::error&)> ended)
    = 0;

  /// Ends whoever had it last.
  virtual void kill() = 0;

  /// Tells its actor that `other` is up, or is not. Those who need not know are told
  /// nothing.
  virtual void tell_of(desk& by, const seat& other, bool up) = 0;

  /// Introduces its actor to another node. Whom nobody there speaks to isn't.
  virtual void join(desk& by, const introducing_actor& there) = 0;

protected:
  using seat::seat;

  bool is_occupied_ = false;
};

/// The seat of a role whose actors `begin(place)` starts, in the world `in`.
template <class Handle>
class seat_of final : public own_seat {
public:
  using start = std::function<Handle(rt::place)>;

  seat_of(schema::Role role, const rt::world& in, std::uint32_t index, start begin)
    : own_seat(role, in.index, index), node_name_(in.node), begin_(std::move(begin)) {
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

  void tell_of(desk& by, const seat& other, bool up) override {
    if constexpr (!std::is_same_v<Handle, engine_actor>)
      by.tell<schema::Member>(name(), rt::unprompted, [&](auto news) {
        news.setRole(other.role());
        news.initWho().setNode(static_cast<std::uint32_t>(other.node()));
        news.getWho().setIndex(other.index());
        news.setLife(other.which().life);
        news.setIncarnation(other.which().incarnation);
        news.setTag(static_cast<std::uint64_t>(other.tag()));
        news.setUp(up);
      });
  }

  void join(desk& by, const introducing_actor& there) override {
    if constexpr (is_known_elsewhere)
      by.tell<schema::Join>(
        there, rt::unprompted,
        [&](schema::Join::Builder news) {
          news.setRole(role_);
          news.initWho().setNode(static_cast<std::uint32_t>(node_));
          news.getWho().setIndex(index_);
          news.setLife(which_.life);
          news.setIncarnation(which_.incarnation);
          news.setTag(static_cast<std::uint64_t>(tag_));
        },
        actor_);
  }

private:
  // An engine is its owner's alone, and a fabric has no nodes but modelled ones.
  static constexpr bool is_known_elsewhere
    = !std::is_same_v<Handle, engine_actor> && !std::is_same_v<Handle, fabric_actor>;

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
  std::vector<std::unique_ptr<own_seat>> seats;

  /// Makes what its actors share, anew: an engine with a fresh arena. What went wrong,
  /// if it cannot. May be empty.
  std::function<std::optional<std::string>()> prepare;
};

using units = std::vector<unit>;

} // namespace perigee::cluster
