/// \file
/// request_line: who waits at a coupled instance, and who is being served.
#pragma once

#include "actors/coupled_instance/arena_tables.hpp"

#include <deque>
#include <limits>
#include <map>
#include <vector>

namespace perigee::coupled {

/// What bounds a batch.
struct line_limits {
  std::uint32_t token_budget = 2048; ///< Tokens fed by one batch.
  std::uint32_t sequences_max = 256; ///< That are served at once.
  std::uint32_t steps_max = 1;       ///< Of a run in which all decode.

  /// The share of the arena's blocks that whoever begins must leave available to those
  /// who are served already, so that they need not make room for each other at once.
  double watermark = 0;

  /// Of all who begin in one batch, to tell an engine of them. One alone may have more.
  std::size_t news_bytes_max = std::numeric_limits<std::size_t>::max();
};

/// A request, from its arrival to its end.
struct entry {
  std::uint64_t request = 0;
  sequence text;
  std::uint64_t age = 0; ///< Counts arrivals.

  std::uint32_t share_max = 0;  ///< Tokens of it in one batch.
  bool is_scored = false;       ///< One such at most is in a batch.
  std::uint32_t news_bytes = 0; ///< To tell an engine of its prompt.

  table_id table = 0; ///< 0: it waits.
  std::uint32_t computed = 0;
  std::uint32_t cached = 0; ///< Of its prompt, when it began first.
  bool has_begun = false;   ///< At least once.

  // What the engine knows of the table.
  bool is_told = false;
  std::uint32_t blocks_told = 0;

  /// Tokens to be fed before the next one can be drawn: at least 1.
  std::uint32_t rest() const {
    return text.size() - computed;
  }

  /// Whether all it needs is one step after another.
  bool decodes() const {
    return table != 0 && rest() == 1 && text.size() > text.prompt_tokens();
  }
};

/// What the conductor wants to know of all.
struct line_totals {
  std::uint32_t waiting = 0;       ///< Nothing of them was computed yet.
  std::uint32_t prefilling = 0;    ///< Some was, but no token drawn.
  std::uint64_t tokens_ahead = 0;  ///< Of prompts, to be computed before that.
  std::uint32_t answered = 0;      ///< Those of whom a token was drawn.
  std::uint64_t answered_kv = 0;   ///< Tokens of theirs.
  std::uint64_t blocks_needed = 0; ///< By those who are served.

  /// Whether the same is being done for as many, though it may have gone on.
  bool is_of_same_requests(const line_totals& other) const {
    return waiting == other.waiting && prefilling == other.prefilling
           && tokens_ahead == other.tokens_ahead && answered == other.answered;
  }
};

/// First come, first served; who must make room goes back to the front. Holds the
/// arena's tables, as nobody else gives or takes any. Pure.
class request_line {
public:
  request_line(arena_tables tables, line_limits limits)
    : tables_(std::move(tables)), limits_(limits) {}

  /// Comes behind all others. The reference holds until remove().
  entry& add(std::uint64_t request, sequence text);

  /// Not while an engine is working on it.
  void remove(std::uint64_t request);

  entry* find(std::uint64_t request) {
    auto at = all_.find(request);
    return at == all_.end() ? nullptr : &at->second;
  }
  entry& at(std::uint64_t request) {
    return all_.at(request);
  }

  /// The next `tokens` of it were computed.
  void fed(entry& one, std::uint32_t tokens);

  /// `token` was drawn for it.
  void drew(entry& one, std::uint32_t token) {
    one.text.append(token);
  }

  // -- for schedulers ---------------------------------------------------------

  const line_limits& limits() const {
    return limits_;
  }

  /// Those who are served, the oldest first.
  const std::vector<entry*>& served() const {
    return served_;
  }

  std::size_t waiting() const {
    return waiting_.size();
  }

  /// Whose turn it is to begin; null if nobody waits.
  entry* next() {
    return waiting_.empty() ? nullptr : waiting_.front();
  }

  /// What of next() would have to be computed.
  std::uint32_t fresh_tokens_of_next() const {
    const auto& text = waiting_.front()->text;
    return text.size() - tables_.cached(text);
  }

  /// Serves next() from now on, with blocks for its first `fresh_max` tokens that must
  /// be computed. False if there aren't as many.
  bool begin_next(std::uint32_t fresh_max);

  /// Lets `one` have blocks for its next `tokens`. False if there are none.
  bool grow(const entry& one, std::uint32_t tokens) {
    return tables_.grow(one.table, one.computed + tokens);
  }

  /// Takes its blocks from the youngest that is served: it goes to the front of those
  /// who wait, to be computed again.
  entry& preempt_youngest();

  // -- for whoever looks ------------------------------------------------------

  const arena_tables& tables() const {
    return tables_;
  }
  prefix_news& changes() {
    return tables_.changes();
  }

  std::size_t size() const {
    return all_.size();
  }

  /// Whether the sequence would ever have found place.
  bool fits(std::uint32_t tokens) const {
    return tables_.blocks_for(tokens) <= tables_.blocks();
  }

  /// Tables closed since this was last asked, of which the engine knows.
  std::vector<table_id> take_closed() {
    return std::exchange(closed_, {});
  }
  bool has_closed() const {
    return !closed_.empty();
  }

  /// Walks over all.
  line_totals sum() const;

  /// Each in the order of requests.
  template <class See>
  void each(See see) const {
    for (const auto& [request, one] : all_)
      see(one);
  }

private:
  void close_table(entry& one);
  std::size_t spare() const;

  arena_tables tables_;
  line_limits limits_;
  std::map<std::uint64_t, entry> all_;
  std::deque<entry*> waiting_; // whose turn it is, first
  std::vector<entry*> served_; // by age
  std::vector<table_id> closed_;
  std::uint64_t ages_ = 0;
};

} // namespace perigee::coupled
