/// \file
/// conductor_state: what a conductor does. Of its own .cpp files alone.
///
/// conductor_placing.cpp has how requests are placed, or refused; conductor_members.cpp
/// who is there, and who holds what; conductor.cpp how busy they are, and time.
#pragma once

#include "actors/conductor/conductor.hpp"
#include "actors/conductor/holdings.hpp"
#include "actors/report_pace.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"
#include "schemas/convert.hpp"

#include <optional>
#include <span>

namespace perigee::conductor {

class conductor_state {
public:
  using handle = conductor_actor;
  static constexpr const char* name = "conductor";

  conductor_state(handle::pointer self, const rt::world& in, options how,
                  std::shared_ptr<probe> counts);
  ~conductor_state();
  conductor_state(const conductor_state&) = delete;
  conductor_state& operator=(const conductor_state&) = delete;

  handle::behavior_type make_behavior();

private:
  // What the timers are for: see on_due().
  enum timer_use : std::uint64_t { of_expiry, of_recounts, timers };

  // -- placing
  void on_place(const Msg<schema::Place>& asked);
  bool try_to_place(const Msg<schema::Place>& asked, std::span<const run> runs);
  bool tell_group(const Msg<schema::Place>& asked, const plan& chosen);
  void tell_instance(const Msg<schema::Place>& asked, const plan& chosen);
  void tell_gateway(const Msg<schema::Place>& asked, const plan& chosen);
  void refuse(const Msg<schema::Place>& asked, const refusal& why);
  void on_cancel(const Msg<schema::Cancel>& wish);

  /// A gateway that is gone needs no answer.
  template <class Fill>
  void answer(const Msg<schema::Place>& asked, Fill fill) {
    auto wanted = asked->getWish();
    desk_.tell<schema::Placed>(to_name<gateway_name>(wanted.getGateway()), asked,
                               [&](schema::Placed::Builder said) {
                                 said.setRequest(wanted.getRequest());
                                 fill(said);
                               });
  }

  // -- how busy they are
  void on_prefill_load(const Msg<schema::PrefillLoad>& said);
  void on_decode_load(const Msg<schema::DecodeLoad>& said);
  void book_changed();
  void on_tick(const Msg<schema::Tick>&);
  void publish();
  void wait_for_expiry();
  void wake_at(moment due, std::uint64_t epoch, std::uint64_t what);
  void on_due(const Msg<schema::Due>& timer);
  void on_expiry();

  // -- who holds what
  void on_stored(const Msg<schema::Stored>& news);
  void on_evicted(const Msg<schema::Evicted>& news);
  void on_snapshot(const Msg<schema::Snapshot>& news);
  void heed(node_index shard, const holdings::outcome& what);
  void ask_for_recount(node_index shard);
  void wait_for_recount(node_index shard);
  void on_recount_late(node_index shard);

  // -- who is there
  void on_member(const Msg<schema::Member>& news);
  void on_apart(const Msg<schema::Apart>& news);
  void seat(const prefill_name& who, bool up);
  void seat(const decode_name& who, bool up);
  void seat(const coupled_name& who, bool up);
  void lose(const instance_id& instance);
  void lose(const group_id& group);
  void seat_shard(node_index shard, bool up);

  /// The one beside us: it alone asks us to place, and has our book.
  rejector_name rejector() const {
    return {desk_.me().node, 0};
  }

  /// Whether `heard` is from the group or instance that has that name now.
  template <class T, class Handle>
  bool is_from_group(const Msg<T>& heard, const rt::name<Handle>& whom) {
    return how_.coupled ? is_current(heard, coupled_name{whom.node, whom.index})
                        : is_current(heard, whom);
  }

  /// Whether `heard` is from who keeps prefixes on that node now.
  template <class T>
  bool is_from_holder(const Msg<T>& heard, node_index node) {
    return how_.coupled ? is_current(heard, coupled_name{node, 0})
                        : is_current(heard, shard_name{node});
  }

  /// Whether `heard` is from whoever is under `whom` now. Else it is to be dropped.
  template <class T, class Handle>
  bool is_current(const Msg<T>& heard, const rt::name<Handle>& whom) {
    bool current = desk_.is_from(whom, heard);
    if (!current)
      probe_->dropped_stale();
    return current;
  }

  handle::pointer self_;
  rt::desk<handle> desk_;
  std::shared_ptr<spdlog::logger> log_;
  options how_;
  std::unique_ptr<placement_policy> policy_;
  std::shared_ptr<probe> probe_;
  holdings held_;
  load_book book_;
  rifts apart_;
  report_pace pace_;
  std::optional<moment> expiry_; // the Due of epoch_ is on its way
  std::uint64_t epoch_ = 0;
  rt::pending_table<node_index, char> recounts_; // that were asked for, by shard
};

} // namespace perigee::conductor
