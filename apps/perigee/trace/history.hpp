/// \file
/// history: what the journals of a folder tell, put together.
#pragma once

#include "actors/gateway/timings.hpp"
#include "apps/perigee/message_book.hpp"
#include "journal/folder.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace perigee::app::trace {

// What refers to an actor, a message or a handling does so by its place among them.
// Place 0 is nobody, no message, no handling. Moments are nanoseconds since 1970, or of
// virtual time.

struct actor {
  std::uint64_t tag = 0;
  std::string name;           ///< "n0@3/decode.2#1"
  std::string label = {};     ///< The same, without what all have in common.
  std::string node = {};      ///< "n0"
  std::string role = {};      ///< "decode"
  std::string arguments = {}; ///< What it was started with.
  std::uint64_t seed = 0;
  std::int64_t began_at = 0;

  std::string process() const; ///< "n0@3"
};

/// One message, from whoever wrote it to whoever took it.
struct message {
  std::uint64_t span = 0;
  std::uint64_t parent = 0; ///< The span of the message because of which it was sent.
  const message_type* type = nullptr; ///< Null of a type that this program lacks.
  std::int64_t sent_at = 0;
  std::int64_t delay = 0; ///< It was to be late by that.
  std::int64_t taken_at = 0;
  std::uint32_t by = 0;
  std::uint32_t to = 0;      ///< As the sender knew.
  std::uint32_t taker = 0;   ///< 0: nobody took it, as far as the journals go.
  std::uint32_t sent_in = 0; ///< The handling in which it was sent.
  std::uint32_t taken_in = 0;
  std::uint32_t bytes = 0;
  std::int32_t request = -1; ///< Its place among the requests; -1: of none, or several.
  bool has_words = false;

  /// Nanoseconds between sending and taking that nobody asked for.
  std::int64_t on_the_way() const {
    return taken_at - sent_at - delay;
  }
};

/// What an actor does in one go.
struct handling {
  std::uint32_t by = 0;
  std::uint32_t of = 0; ///< The message; 0: an error, or somebody's end.
  std::int64_t at = 0;
};

/// What went otherwise.
struct incident {
  enum class what { answered_with_error, got_error, lost_somebody };
  what it = what::got_error;
  std::uint32_t by = 0;
  std::uint32_t whom = 0;
  std::uint64_t span = 0; ///< Of the question.
  std::int64_t at = 0;
  std::string why;
};

struct request {
  std::uint64_t number = 0;   ///< What `list` and `show` call it.
  bool has_beginning = false; ///< Else all that is known of it is an attempt's number.
  std::string process;        ///< "n0@3", where it came in.
  std::uint64_t trace_high = 0, trace_low = 0;
  std::vector<std::uint64_t> attempts; ///< Numbers that the gateway gave it.
  std::uint32_t input_tokens = 0, cached_tokens = 0, output_tokens = 0, tokens_max = 0;
  std::string outcome = "open"; ///< "stop", "length", "refused: prefillLoad", ...

  std::int64_t arrived_at = 0;
  std::optional<std::int64_t> ended_at; ///< When the gateway knew.
  /// Every nanosecond from its arrival to there in one stage: they sum up exactly.
  std::optional<gateway::timings> to_first_token, to_end;
};

struct history {
  std::vector<actor> actors{{.name = "-"}};
  std::vector<message> messages{{}}; ///< As first read of.
  std::vector<handling> handlings{{}};
  std::vector<incident> incidents;
  std::vector<request> requests; ///< By arrival.
  /// Messages of a batch of several requests: which of them took part, as (request,
  /// message), by request.
  std::vector<std::pair<std::int32_t, std::uint32_t>> shared;

  std::uint64_t absences = 0;        ///< Times that somebody found nobody under a name.
  std::uint64_t left_out = 0;        ///< Records that the disk was too slow for.
  std::uint64_t unreadable = 0;      ///< Messages of unknown type, or with a fault.
  std::uint64_t bytes = 0;           ///< Of all files.
  std::vector<std::string> builds;   ///< One a process.
  std::vector<std::string> warnings; ///< About what was skipped.

  /// The message that `span` names, or 0.
  std::uint32_t find(std::uint64_t span) const {
    auto found = by_span.find(span);
    return found == by_span.end() ? 0 : found->second;
  }

  std::unordered_map<std::uint64_t, std::uint32_t> by_span;
};

/// Reads all of `lives`. Never fails: what can't be read is among the warnings.
/// `book` outlives the history.
history read_history(const std::vector<journal::life_folder>& lives,
                     const message_book& book);

/// Calls `see` for every message of `all` that has words, once, with its place. They
/// were judged: their fields may be read.
void for_each_words(const std::vector<journal::life_folder>& lives, const history& all,
                    const std::function<void(std::uint32_t, words_view)>& see);

} // namespace perigee::app::trace
