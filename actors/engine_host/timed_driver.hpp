/// \file
/// timed_driver: an engine whose time is modelled.
#pragma once

#include "actors/engine_host/driver.hpp"
#include "actors/engine_host/forward_run.hpp"
#include "actors/engine_host/gate_ear.hpp"
#include "actors/engine_host/gate_work.hpp"
#include "actors/runtime/desk.hpp"

#include <deque>
#include <optional>

namespace perigee::engine_host {

/// Runs its engine within the actor, and answers once the engine's cost() has passed.
///
/// A layer counts as computed within its share of the cost after its gates were open;
/// the gates that it opens open at the end of the step. Steps are computed some way
/// ahead of their time; those that an interrupt cuts off are undone.
class timed_driver final : public driver {
public:
  timed_driver(const rt::world& in, engine_actor host, rt::desk<engine_actor>& desk,
               drive_train with);
  ~timed_driver() override;

  void submit(const Msg<schema::Forward>& wish) override;
  void interrupt(std::uint64_t ticket) override;
  bool took(const Msg<schema::Ran>& ran) override;

private:
  using moment = std::chrono::nanoseconds;

  /// The Forward that is carried out.
  struct job {
    job(engine::engine& runs, sequence_table& table, const transport::gate_board& board,
        const Msg<schema::Forward>& wish)
      : run(runs, table, wish), gates(board, *wish) {}

    forward_run run;
    gate_work gates;
    moment began{};
    bool waits = false;       ///< For its gates.
    bool interrupted = false; ///< One step more at most.
    std::size_t steps_before = 0;
    std::vector<moment> ends; ///< Of the steps that were computed ahead.
  };

  void begin_next();
  void begin(const Msg<schema::Forward>& wish);
  void wait_for_gates();
  void stop_waiting();
  moment first_end() const;
  void compute_ahead();
  void end();
  void wake_at(moment when);

  const drive_train with_;
  const engine_actor host_;
  rt::desk<engine_actor>& desk_;
  sequence_table sequences_;
  std::shared_ptr<gate_ear> ear_;
  std::uint32_t layers_;
  std::deque<Msg<schema::Forward>> waiting_;
  std::optional<std::uint64_t> interrupted_next_; // before it began
  std::optional<job> now_;
  std::uint64_t number_ = 0; // of the timer that is heeded
};

} // namespace perigee::engine_host
