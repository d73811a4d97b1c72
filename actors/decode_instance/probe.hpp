/// \file
/// What a decode instance counts.
#pragma once

#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"

#include <cstddef>

namespace perigee::decode {

/// What an instance holds at the moment. All 0, and all blocks free, when nothing is
/// open.
struct holdings {
  std::size_t requests = 0; ///< Those that are only expected, too.
  std::size_t sequences = 0;
  std::size_t waiting = 0; ///< For blocks.
  std::size_t parked = 0;
  std::size_t moves = 0;
  std::size_t pool_questions = 0;
  std::size_t deadlines = 0;
  std::size_t blocks_used = 0;
  std::size_t blocks_free = 0;
};

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class probe {
public:
  void accepted() noexcept {
    accepted_total_.add();
  }
  void refused() noexcept {
    refused_total_.add();
  }
  void stepped(std::size_t tokens) noexcept {
    steps_total_.add();
    tokens_total_.add(tokens);
  }
  void interrupted() noexcept {
    interrupts_total_.add();
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
  void parked() noexcept {
    parked_total_.add();
  }
  void returned() noexcept {
    returned_total_.add();
  }
  void offered(std::size_t blocks) noexcept {
    blocks_offered_total_.add(blocks);
  }
  void dropped_stale() noexcept {
    stale_total_.add();
  }

  void holds(const holdings& now) noexcept {
    requests_.set(now.requests);
    sequences_.set(now.sequences);
    waiting_.set(now.waiting);
    in_pool_.set(now.parked);
    moves_.set(now.moves);
    pool_questions_.set(now.pool_questions);
    deadlines_.set(now.deadlines);
    blocks_used_.set(now.blocks_used);
    blocks_free_.set(now.blocks_free);
  }

  std::uint64_t refused_total() const noexcept {
    return refused_total_.value();
  }
  std::uint64_t requests() const noexcept {
    return requests_.value();
  }

  /// Shows each number to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    see("accepted_total", "Requests taken over", accepted_total_.value());
    see("refused_total", "Requests refused at hand-off", refused_total_.value());
    see("steps_total", "Decode steps", steps_total_.value());
    see("tokens_total", "Tokens drawn in those", tokens_total_.value());
    see("interrupts_total", "Runs ended early", interrupts_total_.value());
    see("finished_total", "Answers that came to their end", finished_total_.value());
    see("failed_total", "Requests that ended here otherwise", failed_total_.value());
    see("cancelled_total", "Requests cancelled", cancelled_total_.value());
    see("parked_total", "Sequences that left a full arena", parked_total_.value());
    see("returned_total", "Sequences that came back", returned_total_.value());
    see("blocks_offered_total", "Full blocks of answers that went to the pool",
        blocks_offered_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer, or too late",
        stale_total_.value());
    see("requests", "Requests here or expected", requests_.value());
    see("sequences", "Sequences in the arena that decode", sequences_.value());
    see("waiting", "Requests that wait for blocks", waiting_.value());
    see("parked", "Sequences in the pool", in_pool_.value());
    see("moves", "Movements not answered", moves_.value());
    see("pool_questions", "Questions to the shard not answered",
        pool_questions_.value());
    see("deadlines", "Deadlines kept", deadlines_.value());
    see("blocks_used", "Blocks of the arena in use", blocks_used_.value());
    see("blocks_free", "Blocks of the arena that are free", blocks_free_.value());
  }

private:
  rt::counter accepted_total_;
  rt::counter refused_total_;
  rt::counter steps_total_;
  rt::counter tokens_total_;
  rt::counter interrupts_total_;
  rt::counter finished_total_;
  rt::counter failed_total_;
  rt::counter cancelled_total_;
  rt::counter parked_total_;
  rt::counter returned_total_;
  rt::counter blocks_offered_total_;
  rt::counter stale_total_;
  rt::gauge requests_;
  rt::gauge sequences_;
  rt::gauge waiting_;
  rt::gauge in_pool_;
  rt::gauge moves_;
  rt::gauge pool_questions_;
  rt::gauge deadlines_;
  rt::gauge blocks_used_;
  rt::gauge blocks_free_;
};

} // namespace perigee::decode
