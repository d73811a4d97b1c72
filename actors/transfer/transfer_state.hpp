/// \file
/// transfer_state: what a transfer actor does. Of its own .cpp files alone.
///
/// transfer_elsewhere.cpp has what it has to do with other nodes, transfer_losses.cpp
/// with those who are gone; transfer.cpp how movements begin and end.
#pragma once

#include "actors/asker.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"
#include "actors/transfer/doors.hpp"
#include "actors/transfer/lines.hpp"
#include "actors/transfer/movement.hpp"
#include "actors/transfer/quiesce_line.hpp"
#include "actors/transfer/transfer.hpp"
#include "actors/transfer/trips.hpp"

#include <map>
#include <set>
#include <variant>

namespace perigee::transfer {

class transfer_state {
public:
  using handle = transfer_actor;
  static constexpr const char* name = "transfer";

  transfer_state(handle::pointer self, const rt::world& in, shared_memory memory,
                 const make_paths& make, options how, std::shared_ptr<probe> counts);

  handle::behavior_type make_behavior();

private:
  using nanoseconds = std::chrono::nanoseconds;
  using fault = transport::fault;
  using number = std::uint64_t; // of a movement here; from 1
  using asker = std::variant<prefill_name, decode_name>;
  using wish_of = std::variant<Msg<schema::Fetch>, Msg<schema::Push>>;

  // Epochs of timers: whose.
  enum timer_of : std::uint64_t { of_deadlines, of_lines, timer_owners };

  /// Sender and ticket.
  using wish_key = std::pair<rt::actor_tag, std::uint64_t>;

  struct movement {
    asker who;
    wish_key key;
    wish_of wish;
    nanoseconds began;
    nanoseconds ends_at{};
    transport::transport* by = nullptr; // null until the transport has it
    std::optional<std::size_t> way{};   // to another process, by which it went
    std::uint64_t bytes = 0; // that have been moved, while the last layer goes on
    std::optional<fault> stopped{};        // why the transport was asked to end it
    std::optional<node_index> writes_to{}; // of another process: whose memory
    bool is_torn = false; // what has gone there may still be on its way
    std::optional<schema::MoveFault> ends_with{}; // when it is not torn any more

    schema::Movement::Reader what() const {
      return std::visit([](const auto& said) { return said->getWhat(); }, wish);
    }
    rt::cause why() const {
      return std::visit([](const auto& said) { return rt::cause{said}; }, wish);
    }
  };

  surroundings here() const {
    return {*memory_.segments, *memory_.gates, lines_.known()};
  }

  /// What a predecessor had begun comes beyond the limit.
  std::size_t open_most() const {
    return 2 * how_.movements_max;
  }

  // -- beginning
  void on_fetch(const Msg<schema::Fetch>& wish);
  void on_push(const Msg<schema::Push>& wish);
  template <class T>
  void take(const Msg<T>& wish);
  template <class T>
  std::optional<asker> asker_of(const Msg<T>& wish);
  nanoseconds limit_of(schema::Movement::Reader said) const;
  void submit(number mine, transport::move what);

  // -- modelled links
  void on_flowed(const Msg<schema::Flowed>& said);
  void on_timer(schema::Done::Reader timer);

  // -- ending
  void on_done(const Msg<schema::Done>& done);
  void end(number mine, schema::MoveFault why, std::uint64_t bytes);
  void end(number mine, fault why);
  void answer(const movement& one, fault why);
  void answer(const movement& one, schema::MoveFault why, std::uint64_t bytes);
  void stop(number mine, fault why);
  void on_abort(const Msg<schema::Abort>& wish);
  void on_due(const Msg<schema::Due>& timer);
  void wake_at(nanoseconds due, std::uint64_t epoch, timer_of whose);

  // -- other nodes
  const far_segment* far_end_of(const transport::move& what) const;
  bool may_come(fault why) const;
  void note_again(movement& one, const Msg<schema::Push>& wish) const;
  void park_or_end(number mine, fault why);
  void end_or_park(number mine, schema::MoveFault why);
  void try_parked();
  transport::on_peer ear(std::string_view way);
  void on_dial(const Msg<schema::Dial>& wish);
  void on_dialed(const Msg<schema::Dialed>& said);
  void on_shown(const Msg<schema::Shown>& said);
  void on_line_changed(const Msg<schema::LineChanged>& news);
  void on_fence(const Msg<schema::Fence>& wish);
  void on_clear(node_index node);
  void tell_reached(node_index node, schema::Reached::How how);
  bool is_idle_with(node_index node) const;
  void on_settled(node_index node);

  // -- those who are gone
  void on_member(const Msg<schema::Member>& news);
  void stop_all_of(rt::actor_tag asker_tag);
  bool has_any_of(rt::actor_tag asker_tag) const;
  void on_quiesce(const Msg<schema::Quiesce>& wish);
  void answer_quiesces_for(node_index where);
  void answer_quiesces(rt::actor_tag writer);
  void answer(const std::vector<quiesce>& quiet);

  handle::pointer self_;
  rt::desk<handle> desk_;
  shared_memory memory_;
  options how_;
  std::shared_ptr<probe> probe_;
  std::map<number, movement> open_;
  std::map<wish_key, number> by_key_;
  number numbers_ = 0;
  rt::pending_table<number, std::monostate> deadlines_;
  trips trips_;
  quiesce_line quiesces_; // each waits for a movement that is open
  doors doors_;           // of the threads that tell outcomes
  paths paths_;           // its end tells of all moves, by doors_
  lines lines_;
  std::set<number> parked_;                    // until their segments are known
  std::map<node_index, std::uint64_t> fences_; // asked for: lives
};

} // namespace perigee::transfer
