/// \file
/// prefill_queue: which prompts are computed next, and how much of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace perigee::prefill {

/// A part of a chunk: so many of a request's next tokens.
struct share {
  std::uint64_t request = 0;
  std::uint32_t tokens = 0;

  bool operator==(const share&) const = default;
};

/// Cuts chunks from the prompts that are ready to be computed.
///
/// Those that have begun take turns. One that has not begins when it is shorter than
/// what is left of the one whose turn it is, or when there is room in the chunk; the
/// shortest first. Each chunk that passes one over makes it count as shorter, so that
/// everybody's turn comes. Whose turn it is gets half of the chunk at least.
///
/// A chunk has a limited number of tokens that are scored, over all requests.
///
/// Pure. One owner.
class prefill_queue {
public:
  /// `chunk_tokens` is at least 2, `scored_max` at least 1.
  prefill_queue(std::uint32_t chunk_tokens, std::uint32_t scored_max)
    : chunk_(chunk_tokens), scored_max_(scored_max) {}

  /// `tokens` of `request` are to be computed.
  void add(std::uint64_t request, std::uint32_t tokens, bool is_scored = false);

  /// False if nothing of it is left to be given out.
  bool remove(std::uint64_t request);

  /// The next chunk, whose tokens count as computed from now on. Empty if nobody waits.
  std::vector<share> next_chunk();

  std::size_t begun() const {
    return begun_.size();
  }

  std::size_t waiting() const {
    return waiting_.size();
  }

  bool empty() const {
    return begun_.empty() && waiting_.empty();
  }

private:
  struct entry {
    std::uint64_t request = 0;
    std::uint32_t left = 0;
    bool is_scored = false;
    std::uint32_t passed_over = 0; ///< Chunks in which it had no share.
    std::uint32_t given = 0;       ///< Of the chunk at hand.
  };

  std::uint32_t apparent(const entry& one) const;
  std::size_t shortest() const;
  void give(entry& one, std::uint32_t most);
  void begin(std::size_t waiter);
  std::vector<share> close();

  std::uint32_t chunk_;
  std::uint32_t scored_max_;
  std::uint32_t room_ = 0;        // in the chunk at hand
  std::uint32_t scored_room_ = 0; // of it, for what is scored
  std::deque<entry> begun_;       // whose turn it is, first
  std::vector<entry> waiting_;    // oldest first
};

} // namespace perigee::prefill
