/// \file
/// course: what a cluster in the lab goes through, from one seed, and what must be true
/// of it at the end.
#pragma once

#include "tests/lab/dice.hpp"
#include "tests/lab/small_cluster.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace perigee::test {

/// What was asked, and who was killed.
struct course {
  std::vector<std::pair<std::uint64_t, question>> asked; // by stream
  std::string killed;
};

/// One of a few documents, then something of its own: so prefixes repeat.
question some_question(dice& roll);

/// Questions come at random moments; some of their clients go again. If `kill` is set,
/// an actor dies before the `kill`-th message is handled.
course run(small_cluster& all, std::uint64_t seed, std::uint64_t kill = 0);

/// Conservation: each request reached exactly one end, what was answered is what the
/// model says, and nobody holds anything.
void check_conservation(small_cluster& all, const course& done);

/// Whether what was told, if it is all that will be, is what `asked` must be answered
/// with, as far as it came. `may_fail`: it need not have come to its end.
void check_answer(const told& answer, const right_answer& right, bool may_fail);

} // namespace perigee::test
