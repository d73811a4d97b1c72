/// \file
/// What an engine host counts.
#pragma once

#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"
#include "schemas/forward.capnp.h"

#include <chrono>

namespace perigee::engine_host {

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class probe {
public:
  /// Whoever counted here before has ended, and what was open with it.
  void began() noexcept {
    forwards_open_.set(0);
    idle();
  }

  /// With what was open. A run that began counts as far as the host knew the time.
  void ended(std::chrono::nanoseconds now) noexcept {
    busy_ns_total_.add(busy_ns(now) - busy_ns_total_.value());
    forwards_open_.set(0);
    idle();
  }

  /// A run has begun.
  void running_since(std::chrono::nanoseconds now) noexcept {
    runs_.set(1);
    began_ns_.set(static_cast<std::uint64_t>(now.count()));
  }

  void idle() noexcept {
    runs_.set(0);
  }

  void asked(schema::Forward::Reader wish) noexcept {
    for (auto work : wish.getWork())
      tokens_fed_total_.add(work.getTokens().size());
    forwards_open_.set(forwards_open_.value() + 1);
  }

  void answered(schema::RunResult::Reader result) noexcept {
    forwards_open_.set(forwards_open_.value() - 1);
    forwards_total_.add();
    if (result.getFault() != schema::EngineFault::NONE)
      faults_total_.add();
    steps_total_.add(result.getSteps().size());
    for (auto step : result.getSteps()) {
      busy_ns_total_.add(step.getDurationNs());
      tokens_drawn_total_.add(step.getDrawn().size());
    }
  }

  void refused() noexcept {
    busy_total_.add();
  }

  void gave_up() noexcept {
    given_up_total_.add();
  }

  void dropped_stale() noexcept {
    stale_total_.add();
  }

  /// Time that runs took until `now`, that of the present one too.
  std::uint64_t busy_ns(std::chrono::nanoseconds now) const noexcept {
    auto at = static_cast<std::uint64_t>(now.count());
    auto began = began_ns_.value();
    return busy_ns_total_.value() + (runs_.value() != 0 && at > began ? at - began : 0);
  }

  /// Shows each number to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    see("forwards_total", "Runs answered", forwards_total_.value());
    see("forwards_open", "Runs not answered yet", forwards_open_.value());
    see("faults_total", "Runs that failed", faults_total_.value());
    see("busy_total", "Runs refused: two were open", busy_total_.value());
    see("given_up_total", "Engines given up: a run took too long",
        given_up_total_.value());
    see("steps_total", "Forward passes", steps_total_.value());
    see("busy_ns_total", "Time they took", busy_ns_total_.value());
    see("tokens_fed_total", "Tokens that owners fed; not those a run feeds itself",
        tokens_fed_total_.value());
    see("tokens_drawn_total", "Tokens drawn", tokens_drawn_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer, or too late",
        stale_total_.value());
  }

private:
  rt::counter forwards_total_;
  rt::gauge forwards_open_;
  rt::gauge runs_;
  rt::gauge began_ns_;
  rt::counter faults_total_;
  rt::counter busy_total_;
  rt::counter given_up_total_;
  rt::counter steps_total_;
  rt::counter busy_ns_total_;
  rt::counter tokens_fed_total_;
  rt::counter tokens_drawn_total_;
  rt::counter stale_total_;
};

} // namespace perigee::engine_host
