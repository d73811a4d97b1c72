/// \file
/// Follows one shard's numbered news, and notices what is missing.
#pragma once

#include <chrono>
#include <cstdint>

namespace perigee::conductor {

/// What to do with news of a shard.
enum class verdict : std::uint8_t {
  apply,   ///< To what is known.
  replace, ///< Forget what is known of the shard, then apply: a recount begins.
  ignore,  ///< Too old, or covered by the recount that is awaited.
  recount, ///< Something is missing: ignore this, and ask the shard for all it holds.
};

/// A shard numbers its news from 1, without a gap, and answers a recount with numbered
/// parts that hold everything up to some number. Until a recount has come, nothing else
/// is applied: what was known before it stays, as a hint.
///
/// A recount that does not come, or stops halfway, is asked for again: after a while by
/// whoever waits for it, a few times, and then by the shard's next news alone.
///
/// Pure; one for each time that a shard is heard of.
class shard_feed {
public:
  using moment = std::chrono::nanoseconds;

  /// The first recount was asked for at `asked_at`: a shard may hold blocks that it
  /// told an earlier conductor of. If none has come after `patience`, news ask for
  /// another.
  shard_feed(moment asked_at, moment patience)
    : asked_at_(asked_at), patience_(patience) {}

  /// Of what was stored or evicted.
  verdict on_news(std::uint64_t number, moment now);

  /// Of one part of a recount. Parts that don't follow each other ask for another.
  verdict on_recount(std::uint64_t number, std::uint32_t part, bool last, moment now);

  /// The recount is late: nothing of it came for as long as it may take.
  verdict on_late(moment now);

  /// Whether everything up to the last news is known.
  bool is_complete() const {
    return state_ == state::following;
  }

private:
  enum class state : std::uint8_t { waiting, collecting, following };

  // Of late recounts asked for in a row: a shard that is there answers one of them.
  static constexpr int asked_again_max = 5;

  verdict ask(moment now);

  state state_ = state::waiting;
  moment asked_at_;
  moment patience_;
  std::uint64_t number_ = 0; // the last that is known, or that the recount holds
  std::uint32_t next_part_ = 0;
  int asked_again_ = 0; // since the last recount that was whole
};

} // namespace perigee::conductor
