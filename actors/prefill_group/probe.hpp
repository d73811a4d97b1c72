/// \file
/// What a prefill group counts.
#pragma once

#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace perigee::prefill {

/// What a group holds at the moment. All 0, and all blocks free, when nothing is open.
struct holdings {
  std::size_t requests = 0;
  std::size_t waiting = 0; ///< For blocks.
  std::size_t moves = 0;
  std::size_t pool_questions = 0;
  std::size_t deadlines = 0;
  std::size_t blocks_used = 0;
  std::size_t blocks_free = 0;
};

/// Where KV was that need not be computed.
enum class origin : std::uint8_t { vram, dram, ssd, remote };

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class probe {
public:
  void computed(std::size_t tokens) noexcept {
    chunks_total_.add();
    tokens_computed_total_.add(tokens);
  }

  /// A first chunk is computed while KV before it is still coming.
  void overlapped() noexcept {
    overlapped_total_.add();
  }

  /// That KV did not come.
  void started_over() noexcept {
    started_over_total_.add();
  }

  /// `remote`: of another node, in whatever tier there; the others: of our own.
  void reused(std::size_t tokens, origin from) noexcept {
    tokens_reused_total_[static_cast<std::size_t>(from)].add(tokens);
  }

  void handed_off() noexcept {
    handed_off_total_.add();
  }

  void answered() noexcept {
    answered_total_.add();
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
    waiting_.set(now.waiting);
    moves_.set(now.moves);
    pool_questions_.set(now.pool_questions);
    deadlines_.set(now.deadlines);
    blocks_used_.set(now.blocks_used);
    blocks_free_.set(now.blocks_free);
  }

  std::uint64_t overlapped_total() const noexcept {
    return overlapped_total_.value();
  }

  std::uint64_t started_over_total() const noexcept {
    return started_over_total_.value();
  }

  std::uint64_t tokens_computed_total() const noexcept {
    return tokens_computed_total_.value();
  }

  std::uint64_t tokens_reused_total(origin from) const noexcept {
    return tokens_reused_total_[static_cast<std::size_t>(from)].value();
  }

  std::uint64_t tokens_reused_total() const noexcept {
    std::uint64_t all = 0;
    for (const auto& of_one : tokens_reused_total_)
      all += of_one.value();
    return all;
  }

  std::uint64_t requests() const noexcept {
    return requests_.value();
  }

  /// Shows each number to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    see("chunks_total", "Chunks computed", chunks_total_.value());
    see("overlapped_total", "First chunks computed while KV before them was coming",
        overlapped_total());
    see("started_over_total", "Those of them that were for nothing: it did not come",
        started_over_total());
    see("tokens_computed_total", "Prompt tokens computed",
        tokens_computed_total_.value());
    see("tokens_reused_total", "Prompt tokens whose KV need not be computed",
        tokens_reused_total());
    see("tokens_reused_vram_total", "Those of them whose KV was in the arena",
        tokens_reused_total(origin::vram));
    see("tokens_reused_dram_total", "Those of them whose KV was in the node's DRAM",
        tokens_reused_total(origin::dram));
    see("tokens_reused_ssd_total", "Those of them whose KV was on the node's SSD",
        tokens_reused_total(origin::ssd));
    see("tokens_reused_remote_total", "Those of them whose KV came from another node",
        tokens_reused_total(origin::remote));
    see("handed_off_total", "Requests that a decode instance took over",
        handed_off_total_.value());
    see("answered_total", "Requests that needed no decode", answered_total_.value());
    see("failed_total", "Requests that ended here otherwise", failed_total_.value());
    see("cancelled_total", "Requests cancelled", cancelled_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer, or too late",
        stale_total_.value());
    see("requests", "Requests here", requests_.value());
    see("waiting", "Requests that wait for blocks", waiting_.value());
    see("moves", "Movements not answered", moves_.value());
    see("pool_questions", "Questions to shards not answered", pool_questions_.value());
    see("deadlines", "Deadlines kept", deadlines_.value());
    see("blocks_used", "Blocks of the arena in use", blocks_used_.value());
    see("blocks_free", "Blocks of the arena that are free", blocks_free_.value());
  }

private:
  rt::counter chunks_total_;
  rt::counter overlapped_total_;
  rt::counter started_over_total_;
  rt::counter tokens_computed_total_;
  std::array<rt::counter, 4> tokens_reused_total_; // by origin
  rt::counter handed_off_total_;
  rt::counter answered_total_;
  rt::counter failed_total_;
  rt::counter cancelled_total_;
  rt::counter stale_total_;
  rt::gauge requests_;
  rt::gauge waiting_;
  rt::gauge moves_;
  rt::gauge pool_questions_;
  rt::gauge deadlines_;
  rt::gauge blocks_used_;
  rt::gauge blocks_free_;
};

} // namespace perigee::prefill
