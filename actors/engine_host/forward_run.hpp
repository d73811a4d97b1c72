/// \file
/// forward_run: one Forward, step by step.
#pragma once

#include "actors/engine_host/engine_words.hpp"
#include "actors/engine_host/sequence_table.hpp"
#include "actors/runtime/msg.hpp"

namespace perigee::engine_host {

/// Carries out one Forward on an engine. Whoever drives it says when a step is taken,
/// and how long it took.
///
/// Not thread-safe. Engine and table outlive it.
class forward_run {
public:
  /// A `wish` with a fault changes nothing in the table, and has no step.
  forward_run(engine::engine& runs, sequence_table& table, Msg<schema::Forward> wish);

  const Msg<schema::Forward>& wish() const {
    return wish_;
  }

  /// What is wrong with the Forward, if that is why there is no step.
  const std::optional<std::string>& complaint() const {
    return complaint_;
  }

  /// Whether there is a step left to take.
  bool has_step() const;

  /// What the next step will cost, if the engine knows.
  std::chrono::nanoseconds cost() const {
    return runs_.cost(slices_);
  }

  /// Takes the next step. Whatever fails ends the run.
  void step(const engine::layer_hooks& hooks);

  /// Of the step that was taken last.
  void set_duration(std::chrono::nanoseconds span);

  /// Ends the run with no further step, as it stands after the first `steps`.
  void end_after(std::size_t steps);

  /// Ends the run for want of a layer that will not come.
  void starve();

  const run_record& record() const {
    return record_;
  }

private:
  struct part {
    std::uint64_t number = 0;
    sequence* of = nullptr;
    std::uint32_t position = 0; // of the first token that is fed next
    std::uint32_t steps = 0;    // that are left
    std::int16_t scores = -1;
    std::vector<engine::token_id> tokens;
    engine::sampled drawn;

    void go_on(engine::token_id drew);
  };

  part first_part(schema::Forward::Work::Reader work) const;
  void plan();
  void score_with(engine::slice& one, part& of);
  void take_draws();
  void fail(schema::EngineFault why);

  engine::engine& runs_;
  sequence_table& table_;
  Msg<schema::Forward> wish_;
  std::optional<std::string> complaint_;
  run_record record_;
  std::size_t record_bytes_ = 0;
  bool is_over_ = false;    // somebody takes no further part
  std::vector<part> parts_; // of the next step
  std::vector<engine::slice> slices_;
};

} // namespace perigee::engine_host
