/// \file
/// What a journal holds, as plain values.
#pragma once

#include "schemas/fault.hpp"

#include <cstdint>
#include <string_view>
#include <variant>

namespace perigee::journal {

// Actors are named by tags: hashes of their names, which introductions tell. 0: nobody
// known. Moments and spans are nanoseconds of the clock of the process.

/// Whose journal it is. Stands first in every segment.
struct opening {
  std::uint64_t segment = 0; ///< Counts a life's segments from 1.
  std::uint64_t life = 0;
  std::string_view node;
  std::string_view build;        ///< Of the program.
  std::uint64_t topology = 0;    ///< A hash of it.
  std::int64_t clock_offset = 0; ///< To be added to a moment: nanoseconds since 1970.
  bool is_redacted = true;       ///< Token ids read as 0.
  std::int64_t at = 0;           ///< Of the last moment noted before.
};

/// An actor begins. All of them are repeated at the head of each later segment.
struct introduction {
  std::uint64_t tag = 0;
  std::string_view name;
  std::string_view role;
  std::uint32_t index = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t life = 0;
  std::uint64_t seed = 0;
  std::string_view arguments;
  std::int64_t at = 0;
  bool is_repeated = false;
};

/// What names a message in a cluster, and what it says. Of one that has its words
/// elsewhere in the same journal, `words` are empty.
struct message {
  std::uint64_t sender = 0;
  std::uint64_t sequence = 0; ///< Among those of its sender.
  std::uint64_t type = 0;     ///< Of the struct, as Cap'n Proto numbers it.
  words_view words;
};

/// `by` sends to `to`. If `by` is not its sender, it passes on what another wrote.
struct sending {
  std::uint64_t by = 0;
  std::uint64_t to = 0;
  std::int64_t delay = 0;
  message what;
};

/// `by` begins to handle it.
struct taking {
  std::uint64_t by = 0;
  std::int64_t at = 0;
  message what;
};

/// `by` found nobody under a name, or another than it thought.
struct absence {
  std::uint64_t by = 0;
};

/// An error, as its owner numbers and describes it.
struct trouble {
  std::uint64_t category = 0;
  std::uint64_t code = 0;
  std::string_view text;
};

/// `by` answered the message `span` with an error.
struct failing {
  std::uint64_t by = 0;
  std::uint64_t span = 0;
  trouble why;
};

/// `by` got an error, or nothing in time, where it waited for an answer to `span`.
struct missing {
  std::uint64_t by = 0;
  std::uint64_t span = 0;
  std::int64_t at = 0;
  trouble why;
};

/// `by` learns that `whom` has ended.
struct losing {
  std::uint64_t by = 0;
  std::uint64_t whom = 0;
  std::int64_t at = 0;
  trouble why;
};

/// So many records are not here, because the disk was slower than the actors.
struct gap {
  std::uint64_t records = 0;
};

using record = std::variant<opening, introduction, sending, taking, absence, failing,
                            missing, losing, gap>;

} // namespace perigee::journal
