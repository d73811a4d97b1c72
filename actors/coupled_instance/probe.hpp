/// \file
/// What a coupled instance counts.
#pragma once

#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"

#include <cstddef>

namespace perigee::coupled {

/// What an instance holds at the moment. All but `blocks_cached` and `blocks_free` are
/// 0 when nothing is open.
struct holdings {
  std::size_t requests = 0;
  std::size_t sequences = 0; ///< Those that are served.
  std::size_t waiting = 0;
  std::size_t deadlines = 0;
  std::size_t blocks_used = 0;
  std::size_t blocks_cached = 0; ///< That nobody uses.
  std::size_t blocks_free = 0;
};

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class probe {
public:
  void reused(std::size_t tokens) noexcept {
    tokens_reused_total_.add(tokens);
  }
  void ran_batch(std::size_t prompt_tokens) noexcept {
    batches_total_.add();
    tokens_computed_total_.add(prompt_tokens);
  }
  void stepped(std::size_t tokens) noexcept {
    steps_total_.add();
    tokens_total_.add(tokens);
  }
  void interrupted() noexcept {
    interrupts_total_.add();
  }
  void preempted() noexcept {
    preempted_total_.add();
  }
  void finished() noexcept {
    finished_total_.add();
  }
  void failed() noexcept {
    failed_total_.add();
  }
  void cancelled() noexcept {
    cancelled_total_.add();
  }
  void dropped_stale() noexcept {
    stale_total_.add();
  }

  void holds(const holdings& now) noexcept {
    requests_.set(now.requests);
    sequences_.set(now.sequences);
    waiting_.set(now.waiting);
    deadlines_.set(now.deadlines);
    blocks_used_.set(now.blocks_used);
    blocks_cached_.set(now.blocks_cached);
    blocks_free_.set(now.blocks_free);
  }

  std::uint64_t tokens_computed_total() const noexcept {
    return tokens_computed_total_.value();
  }
  std::uint64_t tokens_reused_total() const noexcept {
    return tokens_reused_total_.value();
  }
  std::uint64_t preempted_total() const noexcept {
    return preempted_total_.value();
  }
  std::uint64_t requests() const noexcept {
    return requests_.value();
  }

  /// Shows each number to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    see("batches_total", "Batches, a run of steps counting as one",
        batches_total_.value());
    see("steps_total", "Steps", steps_total_.value());
    see("tokens_total", "Tokens drawn in those", tokens_total_.value());
    see("tokens_computed_total", "Tokens of prompts computed, anew or again",
        tokens_computed_total_.value());
    see("tokens_reused_total", "Tokens of prompts whose KV was in the arena",
        tokens_reused_total_.value());
    see("interrupts_total", "Runs ended early", interrupts_total_.value());
    see("preempted_total", "Sequences that had to make room, to be computed again",
        preempted_total_.value());
    see("finished_total", "Answers that came to their end", finished_total_.value());
    see("failed_total", "Requests that ended here otherwise", failed_total_.value());
    see("cancelled_total", "Requests cancelled", cancelled_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer, or too late",
        stale_total_.value());
    see("requests", "Requests here", requests_.value());
    see("sequences", "Sequences that are served", sequences_.value());
    see("waiting", "Requests that wait to be", waiting_.value());
    see("deadlines", "Deadlines kept", deadlines_.value());
    see("blocks_used", "Blocks of the arena in use", blocks_used_.value());
    see("blocks_cached", "Blocks that are kept for who begins alike",
        blocks_cached_.value());
    see("blocks_free", "Blocks of the arena that are free", blocks_free_.value());
  }

private:
  rt::counter batches_total_;
  rt::counter steps_total_;
  rt::counter tokens_total_;
  rt::counter tokens_computed_total_;
  rt::counter tokens_reused_total_;
  rt::counter interrupts_total_;
  rt::counter preempted_total_;
  rt::counter finished_total_;
  rt::counter failed_total_;
  rt::counter cancelled_total_;
  rt::counter stale_total_;
  rt::gauge requests_;
  rt::gauge sequences_;
  rt::gauge waiting_;
  rt::gauge deadlines_;
  rt::gauge blocks_used_;
  rt::gauge blocks_cached_;
  rt::gauge blocks_free_;
};

} // namespace perigee::coupled
